/** What reaches the helm program: it runs beside the deployer, and tenants write names and kubeconfigs. */
import { expect } from 'chai';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { outlookOf } from '../../../../src/lib/outlook.ts';
import { programActions } from '../../../../deployers/helm/program-actions.ts';

/** Prints its version; otherwise stores its arguments and its kubeconfig beside itself, and fails with the file of the action. */
const PROGRAM = `#!/bin/sh
if [ "$1" = version ]; then echo v3.19.0; exit 0; fi
echo "$@" >> "$(dirname "$0")/calls"
cp "$KUBECONFIG" "$(dirname "$0")/used"
if [ -f "$(dirname "$0")/$1" ]; then cat "$(dirname "$0")/$1" >&2; exit 1; fi
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

  const wrong = 'execution error at (c/templates/a.yaml:1:3): a name is needed';
  const failures: readonly (readonly [string, string, string | undefined, string])[] = [
    ['the chart cannot be rendered', `INSTALLATION FAILED: ${wrong}`, `${wrong}\n\nUse --debug flag to render out invalid YAML`, 'final'],
    ['the chart can be rendered', 'INSTALLATION FAILED: admission webhook "a" denied the request', undefined, 'unknown'],
    ['the chart cannot be rendered without the cluster', 'INSTALLATION FAILED: no route to host', wrong, 'unknown'],
  ]; // prettier-ignore
  for (const [title, error, rendering, outlook] of failures)
    it(`has a failure that is ${outlook} if ${title}`, async () => {
      await writeFile(join(folder, 'install'), `Error: ${error}\n`);
      if (rendering !== undefined) await writeFile(join(folder, 'template'), `Error: ${rendering}\n`);
      const problem = await actionsFor('web', '{}').install(step);
      expect(problem?.message).to.equal(error);
      expect(outlookOf(problem?.cause)).to.equal(outlook);
    });

  for (const [waits, flags] of [
    [true, '--wait --timeout 1000ms'],
    [false, '--timeout 1000ms'],
  ] as const)
    it(`uninstalls a release in its own namespace, and ${waits ? 'waits' : 'does not wait'}`, async () => {
      const release = { name: 'old', namespace: 'elsewhere', waits, timeoutMs: 1000 };
      expect(await actionsFor('web', '{}').uninstall(release)).to.equal(undefined);
      expect(await stored('calls')).to.equal(`uninstall old --namespace elsewhere ${flags}\n`);
    });

  it('does not render the chart again after a wait that took too long', async () => {
    const error = 'INSTALLATION FAILED: context deadline exceeded';
    await writeFile(join(folder, 'install'), `Error: ${error}\n`);
    await writeFile(join(folder, 'template'), `Error: ${error}\n`);
    const problem = await actionsFor('web', '{}').install(step);
    expect(problem).to.deep.include({ message: error, hasWaited: true });
    expect(outlookOf(problem?.cause)).to.equal('unknown');
    expect(await stored('calls'))
      .to.match(/^install web /)
      .and.not.contain('template');
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
