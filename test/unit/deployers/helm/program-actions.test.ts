/** What reaches the helm program: it runs beside the deployer, and tenants write names and kubeconfigs. */
import { expect } from 'chai';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programActions } from '../../../../deployers/helm/program-actions.ts';

/** Prints its version; otherwise stores its arguments and its kubeconfig beside itself. */
const PROGRAM = `#!/bin/sh
if [ "$1" = version ]; then echo v3.19.0; exit 0; fi
echo "$@" >> "$(dirname "$0")/calls"
cp "$KUBECONFIG" "$(dirname "$0")/used"
`;
/** With an anchor, to see that it is parsed. */
const KUBECONFIG = 'users: &u [{name: u, user: {token: t}}]\nother: *u\n';

describe('the helm program', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'helm-program-'));
    await writeFile(join(folder, 'helm'), PROGRAM, { mode: 0o755 });
  });
  afterEach(() => rm(folder, { recursive: true }));

  const actionsFor = (name: string, kubeconfig: string) => {
    const config = { name, namespace: 'apps', values: {}, install: {}, upgrade: {}, createNamespace: false };
    const target = { kubeconfig: () => Promise.resolve(kubeconfig) };
    const ctx = { config, target, signal: new AbortController().signal } as never;
    return programActions(ctx, {} as never, { executable: join(folder, 'helm') } as never);
  };
  const step = { chart: { bytes: Buffer.from('chart') }, isReinstall: false, timeoutMs: 1000 } as never;
  const stored = (file: string) => readFile(join(folder, file), 'utf8').catch(() => '');

  it('is not called with the name of a release that would be a flag', async () => {
    const actions = actionsFor('--post-renderer=/bin/sh', '{}');
    const uninstall = { name: '--debug', namespace: 'apps', waits: false, timeoutMs: 1000 };
    for (const action of [
      () => actions.install(step),
      () => actions.upgrade(step),
      () => actions.uninstall(uninstall),
    ])
      expect((await action())?.message).to.match(/^release name "--.*": invalid release name/);
    expect(await stored('calls')).to.equal('');
  });

  it('gets the kubeconfig as it was checked, whatever its parser would read', async () => {
    expect(await actionsFor('web', KUBECONFIG).install(step)).to.equal(undefined);
    expect(JSON.parse(await stored('used'))).to.deep.equal({
      users: [{ name: 'u', user: { token: 't' } }],
      other: [{ name: 'u', user: { token: 't' } }],
    });
    expect(await stored('calls')).to.match(/^install web /);
  });
});
