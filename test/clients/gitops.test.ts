/** The health checks of docs/gitops.md: the script with Lua, as Argo CD, and the expressions with cel-go, as Flux. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { celEvaluator } from '../../hack/gitops/evaluator.ts';
import { findGoModule } from '../../hack/go/module.ts';
import { installationKind } from '../../src/api/kinds/installation.ts';
import { annotations } from '../../src/api/labels.ts';
import { isObject } from '../../src/lib/objects.ts';
import { parseYaml } from '../../src/lib/yaml.ts';
import { isRealServer, useCluster } from '../support/cluster.ts';
import { fakeItem, web } from '../support/landscape.ts';
import { leftOut, skip } from '../support/skip.ts';

const page = readFileSync(join(import.meta.dirname, '../../docs/gitops.md'), 'utf8');
const documents = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => parseYaml(text));
const documentOf = (kind: string): object =>
  (documents as { kind?: string }[]).find((document) => document.kind === kind) ?? expect.fail(`no ${kind}`);

type Health = 'waits' | 'works' | 'failed';
interface Subject {
  readonly metadata: object;
  readonly status?: object;
}

// ---------------------------------------------------------------- Argo CD

const lua = ['lua5.1', 'lua5.4', 'lua'].find((name) => spawnSync(name, ['-v']).error === undefined);

/** A Lua expression for a JSON value; null is nil, as for Argo CD. */
function luaOf(value: unknown): string {
  if (value === null || value === undefined) return 'nil';
  if (Array.isArray(value)) return `{${value.map(luaOf).join(', ')}}`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, each]) => `[${JSON.stringify(key)}] = ${luaOf(each)}`)
    .join(', ')}}`;
}

const healths: Readonly<Record<string, Health>> = {
  Progressing: 'waits',
  Healthy: 'works',
  Degraded: 'failed',
};

function argo(object: unknown): { readonly health: Health | undefined; readonly message: string } {
  const { data } = documentOf('ConfigMap') as { data: Record<string, string> };
  const script = data['resource.customizations.health.landscaper.gardener.cloud_Installation'] ?? '';
  const program = `local obj = ${luaOf(object)}\nlocal hs = (function()\n${script}\nend)()\nprint(hs.status)\nprint(hs.message)`;
  const { stdout, stderr } = spawnSync(lua ?? '', ['-'], { input: program, encoding: 'utf8' });
  expect(stderr).to.equal('');
  const [status = '', ...message] = stdout.trim().split('\n');
  return { health: healths[status], message: message.join('\n') };
}

// ---------------------------------------------------------------- Flux

const cel = findGoModule(celEvaluator);

const results: Readonly<Record<string, Health>> = {
  inProgress: 'waits',
  none: 'waits',
  failed: 'failed',
  current: 'works',
};

/** @returns undefined if the expressions are not valid for the object, so that Flux keeps waiting */
function flux(object: unknown): Health | undefined {
  const { spec } = documentOf('Kustomization') as { spec: { healthCheckExprs: object[] } };
  const { inProgress, failed, current } = spec.healthCheckExprs[0] as Record<string, string>;
  const input = JSON.stringify({ expressions: { inProgress, failed, current }, objects: [object] });
  const { stdout, stderr } = spawnSync(cel ?? '', [], { input, encoding: 'utf8' });
  expect(stderr).to.equal('');
  return results[JSON.parse(stdout) as string];
}

// ---------------------------------------------------------------- tables

const finished = { jobID: 'a', jobIDFinished: 'a', observedGeneration: 2 };
const busy = { ...finished, jobID: 'b' };
const metadata = { name: 'web', generation: 2 };
const requested = { ...metadata, annotations: { [annotations.operation]: 'reconcile' } };
const other = { ...metadata, annotations: { [annotations.reconcileIfChanged]: 'true' } };
const at = (phase: string, fields: object, meta: object = metadata): Subject => ({
  metadata: meta,
  status: { ...fields, phase },
});
const unfinished = ['Init', 'CleanupOrphaned', 'ObjectsCreated', 'Progressing', 'Completing'];
const deleting = ['InitDelete', 'TriggerDelete', 'Deleting'];

const table: readonly (readonly [string, Subject, Health])[] = [
  ['is new', { metadata, status: { observedGeneration: 0 } }, 'waits'],
  ...[...unfinished, ...deleting].map((phase) => [`is in phase ${phase}`, at(phase, busy), 'waits'] as const),
  ['has its first job', at('Init', { jobID: 'a', observedGeneration: 2 }), 'waits'],
  ['has succeeded', at('Succeeded', finished), 'works'],
  ['has succeeded, with other annotations', at('Succeeded', finished, other), 'works'],
  ['has failed', at('Failed', finished), 'failed'],
  ['could not be deleted', at('DeleteFailed', finished), 'failed'],
  ['has succeeded before, and works on another job', at('Succeeded', busy), 'waits'],
  ['has failed before, and works on another job', at('Failed', busy), 'waits'],
  ['has a changed spec', at('Succeeded', finished, { ...metadata, generation: 3 }), 'waits'],
  ['has a requested job', at('Succeeded', finished, requested), 'waits'],
];

describe('the documented health checks of GitOps tools', function () {
  this.timeout(60_000);
  const here = useCluster({ deployers: [] });

  if (lua === undefined) leftOut('Argo CD', 'there is no lua; Debian has it in the package lua5.1');
  else {
    for (const [what, object, health] of table)
      it(`Argo CD: an installation that ${what}`, () => {
        expect(argo(object).health).to.equal(health);
      });
    it('Argo CD: an installation without a status waits, and a failed one shows its error', () => {
      expect(argo({ metadata }).health).to.equal('waits');
      const failed = at('Failed', { ...finished, lastError: { message: 'no such chart' } });
      expect(argo(failed).message).to.equal('no such chart');
    });
  }

  if (cel === undefined) leftOut('Flux', 'cel-go is not built; make test-clients does');
  else {
    for (const [what, object, health] of table)
      it(`Flux: an installation that ${what}`, () => {
        expect(flux(object)).to.equal(health);
      });
    it('Flux: an installation without a status cannot be evaluated, so Flux waits', () => {
      expect(flux({ metadata })).to.equal(undefined);
    });
  }

  it('follow a running Espalier from the commit to success, a change, and failure', async function () {
    if (lua === undefined || cel === undefined) skip(this, 'lua or cel-go is missing');
    if (isRealServer()) skip(this, 'one server is enough');
    const scene = await here.scene();
    const both = () => {
      const object = scene.installation('web');
      return [argo(object).health, flux(object)];
    };
    await scene.create(web({ annotations: { [annotations.reconcileIfChanged]: 'true' } }));
    await scene.waiting('web', 'app');
    expect(both()).to.deep.equal(['waits', 'waits']);
    await scene.answer('web', 'app');
    await scene.finished('web');
    expect(both()).to.deep.equal(['works', 'works']);
    const [job] = scene.jobs('web');
    const { spec } = web({ items: [fakeItem('app', { labels: { changed: 'yes' } })] });
    await scene.patch(installationKind, 'web', { spec });
    await scene.until('the next job', () => scene.installation('web')?.status?.jobID !== job);
    await scene.waiting('web', 'app');
    expect(both()).to.deep.equal(['waits', 'waits']);
    await scene.answer('web', 'app', 'Failed');
    await scene.finished('web', 'Failed', { after: job });
    expect(both()).to.deep.equal(['failed', 'failed']);
  });
});
