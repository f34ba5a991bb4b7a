/** The work of deployer skeleton. The SDK handles jobs, timeouts, retries and the status. */
import { definePlugin, done, schemaCodec, wait } from 'espalier/deployer-sdk';
import { z } from 'zod';

/** The document in `spec.config` of a deploy item. */
const config = schemaCodec('ProviderConfiguration', {
  'skeleton.example.org/v1': z.object({
    greeting: z.string().min(1),
    /** The job does not end before this is true. */
    ready: z.boolean().default(true),
  }),
});

export const plugin = definePlugin({
  type: 'example.org/skeleton',
  name: 'skeleton.example.org',
  version: '0.1.0',
  config,

  /** Installs or updates. Called again after a crash, and after a `wait`, so it must be idempotent. */
  async apply({ config: { greeting, ready }, assertTimeLeft, log }) {
    assertTimeLeft('skeleton: before the work');
    if (!ready) return wait();
    log.info({ greeting }, 'installed');
    return done({ exports: { value: { greeting } } });
  },

  /** Uninstalls. */
  async remove({ log }) {
    log.info({}, 'uninstalled');
    return done();
  },
});
