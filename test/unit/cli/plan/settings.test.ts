/** What plans depend on besides the clusters. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { planSettings } from '../../../../src/cli/commands/plan/make-plan.ts';
import { registryOptions } from '../../../../src/cli/composition/process-services.ts';
import type { Configuration } from '../../../../src/cli/configuration/configuration.ts';
import { runProgram } from '../../../../src/cli/program.ts';
import { fakeTerminal } from '../terminal.ts';

describe('the settings of a plan', () => {
  it('contain no credentials for registries on request', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-plan-'));
    const config = join(folder, 'config.yaml');
    writeFileSync(
      config,
      'registry: { cacheSize: 5, oci: { allowPlainHttp: true, configFiles: [auth.json] } }\n',
    );
    const registryWith = async (registryCredentials?: boolean) =>
      (await planSettings({ config, ...(registryCredentials !== undefined && { registryCredentials }) }))
        .configuration.registry;
    const rest = { cacheBytes: 5, allowPlainHttp: true };
    expect(await registryWith()).to.deep.include({
      ...rest,
      configFiles: [{ path: join(folder, 'auth.json'), key: 'registry.oci.configFiles[0]' }],
    });
    expect(await registryWith(false)).to.deep.equal({ ...rest, localAddresses: 'none' });
    writeFileSync(config, 'registry: { allowLocalAddresses: true }\n');
    expect(await registryWith(false)).to.deep.equal({ localAddresses: 'all' });
    rmSync(folder, { recursive: true });
  });

  it('let users of a pod name no loopback addresses, unless the configuration allows them', () => {
    const of = (registry: Configuration['registry'], kubeconfig: 'in-cluster' | { readonly text: string }) =>
      registryOptions({ registry }, kubeconfig).localAddresses;
    expect(of({}, 'in-cluster')).to.equal('none');
    expect(of({ localAddresses: 'all' }, 'in-cluster')).to.equal('all');
    expect(of({}, { text: '' })).to.equal(undefined);
  });

  it('are refused to a console in the cluster that connects to no target, and to one outside', async () => {
    for (const [args, problem] of [
      [['--in-cluster', '--allow-plans'], '--allow-plans: plans connect to targets'],
      [['--allow-targets', '--max-plans', '3'], '--allow-targets, --max-plans: only with --in-cluster'],
    ] as const) {
      const terminal = fakeTerminal();
      expect(await runProgram(['console', ...args], terminal)).to.equal(2);
      expect(terminal.errors).to.contain(problem);
    }
  });
});
