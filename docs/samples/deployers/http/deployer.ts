/** Keeps a JSON document on a web server: PUT to install it, DELETE to uninstall it. */
import { z } from 'zod';
import {
  ConfigurationError,
  RetryError,
  UnauthorizedError,
  definePlugin,
  done,
  schemaCodec,
  wait,
} from 'espalier/deployer-sdk';

const path = z.string().startsWith('/');

export const httpDeployer = definePlugin({
  type: 'example.org/http-document',
  name: 'http-document.example.org',
  version: '1.0.0',
  config: schemaCodec('ProviderConfiguration', {
    'http.example.org/v1': z.object({ path, document: z.unknown(), exportAs: z.string().default('etag') }),
  }),
  status: schemaCodec('ProviderStatus', { 'http.example.org/v1': z.object({ url: z.url() }) }),

  async apply({ config, target, previous, begin, assertTimeLeft, signal }) {
    const base = target?.text('endpoint');
    if (!base)
      throw new ConfigurationError({
        operation: 'Apply',
        reason: 'NoEndpoint',
        message: 'the target has no key endpoint',
      });
    assertTimeLeft('http: before upload');
    const url = new URL(config.path, base).toString();
    const status = { url };
    if (previous?.url !== url) {
      if (previous) await ask('DELETE', previous.url, signal);
      await begin(status); // so that remove finds it, whatever happens after this
    }
    await ask('PUT', url, signal, JSON.stringify(config.document));
    const etag = (await ask('HEAD', url, signal)).headers.get('etag');
    return etag ? done({ status, exports: { value: { [config.exportAs]: etag } } }) : wait({ status });
  },

  async remove({ previous, signal }) {
    if (previous) await ask('DELETE', previous.url, signal);
    return done();
  },
});

async function ask(method: string, url: string, signal: AbortSignal, body: string | null = null) {
  const answer = await fetch(url, { method, body, signal });
  if (answer.ok || (method !== 'PUT' && answer.status === 404)) return answer;
  const isDenied = answer.status === 401 || answer.status === 403;
  const message = `${url} answered ${answer.status}`;
  throw new (isDenied ? UnauthorizedError : RetryError)({ operation: 'Http', reason: method, message });
}
