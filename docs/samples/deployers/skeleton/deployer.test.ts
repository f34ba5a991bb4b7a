/** Runs the deployer on a cluster in this process with the conformance suite. */
import { fail } from 'node:assert';
import { test } from 'node:test';
import { startDeployer } from 'espalier/deployer-sdk';
import { checkDeployer, startTestCluster } from 'espalier/testing';
import { plugin } from './deployer.ts';

/** For each action of the deployer, in milliseconds; a busy machine needs more. */
const patienceMs = Number(process.env['PATIENCE_MS'] ?? 20_000);

const config = (fields: object) => ({
  apiVersion: 'skeleton.example.org/v1',
  kind: 'ProviderConfiguration',
  ...fields,
});

await test('passes the conformance suite', async (t) => {
  const { kubeconfig, stop } = await startTestCluster();
  const deployer = await startDeployer(plugin, { kubeconfig: { text: kubeconfig } });
  const greeting = 'hello';
  const results = await checkDeployer(
    {
      type: plugin.type,
      succeeds: config({ greeting }),
      exports: { config: config({ greeting }), value: { greeting } },
      waits: config({ greeting, ready: false }),
      finish: config({ greeting }),
      invalid: config({ greeting: 5 }),
    },
    { kubeconfig, patienceMs },
  );
  await deployer.stop();
  await stop();
  for (const { sentence, verdict, why } of results) {
    await t.test(sentence, { skip: verdict === 'skipped' && why }, () => {
      if (verdict === 'failed') fail(why);
    });
  }
});
