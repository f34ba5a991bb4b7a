/** Lets every component that sorts objects sort some, and prints the orders as JSON. Run with and without replace.mjs. */
import { assign, planRemoval, planStart } from '../../../controllers/execution/classify.ts';
import { manifestDeployer } from '../../../deployers/manifest/index.ts';
import { ordered } from '../../../src/dataflow/siblings.ts';
import { Bench, configMap, manage, manifestConfig } from '../../unit/deployers/bench.ts';
import { graphOf } from '../../unit/workflow/support.ts';
import { deleting, done, execution, item, running, template } from '../given.ts';

const names = ['a', 'b', 'c'];
const before = (name: string): string[] => names.slice(0, names.indexOf(name)).slice(-1);

/** Deploy items in the order in which they get the job. */
function startOfExecution(): string[] {
  const templates = names.map((name) => template(name, { dependsOn: before(name) }));
  const self = execution('e', { items: templates, status: running('j1') });
  const started: string[] = [];
  for (;;) {
    const items = names.map((name) => item('e', name, done(started.includes(name) ? 'j1' : 'j0')));
    const { start } = planStart(self, templates, assign(self, templates, items).active);
    if (start.length === 0) return started;
    started.push(...start);
  }
}

/** Deploy items in the order in which they are deleted. */
function endOfExecution(): string[] {
  const templates = names.map((name) => template(name, { dependsOn: before(name) }));
  const self = execution('e', { items: templates, status: running('j2'), meta: deleting });
  const all = names.map((name) => ({ name, item: item('e', name, done('j1')) }));
  const gone: string[] = [];
  for (;;) {
    const left = all.filter(({ name }) => !gone.includes(name));
    const { remove } = planRemoval(
      self,
      templates,
      left.map((each) => each.item),
    );
    if (remove.length === 0) return gone;
    gone.push(...left.filter((each) => remove.includes(each.item.metadata.name)).map((each) => each.name));
  }
}

const siblings = (): string[] =>
  ordered(
    names.map((name) => ({
      name,
      imports: { data: before(name).map((from) => ({ name: 'in', dataRef: from })) },
      exports: { data: [{ name: 'out', dataRef: name }] },
    })),
  ).map(({ name }) => name);

/** What a manifest deployer creates and deletes, by kinds. */
async function manifests(): Promise<{ created: string[]; deleted: string[] }> {
  const of = (apiVersion: string, kind: string, name: string, more: object = {}): object =>
    manage({ apiVersion, kind, metadata: { name }, ...more });
  const crd = of('apiextensions.k8s.io/v1', 'CustomResourceDefinition', 'xs.example.org', {
    spec: {
      group: 'example.org',
      scope: 'Cluster',
      names: { kind: 'X', plural: 'xs' },
      versions: [{ name: 'v1' }],
    },
  });
  const bench = new Bench(manifestDeployer());
  bench.givenTarget();
  const role = of('rbac.authorization.k8s.io/v1', 'ClusterRole', 'r');
  bench.giveItem(manifestConfig({ manifests: [manage(configMap('m')), role, crd] }));
  const kinds = (verb: string): string[] =>
    bench.target
      .takeRequests()
      .filter((request) => request.startsWith(verb))
      .map((request) => request.split(' ')[1] ?? '')
      .filter((kind) => kind !== 'Namespace');
  bench.target.takeRequests();
  await bench.kick('j1');
  const created = kinds('create');
  await bench.delete();
  await bench.kick('j2');
  return { created, deleted: kinds('delete') };
}

/** Dependents in the order in which they are reconciled, and in which they are deleted. */
async function workflows(): Promise<{ reconciled: string[]; deleted: string[] }> {
  const plans = Object.fromEntries(names.map((name) => [name, { dependsOn: before(name) }]));
  const [up, down] = [graphOf(plans), graphOf(plans)];
  await up.reconcile();
  await down.cleanup();
  return { reconciled: up.story, deleted: down.story };
}

const { created, deleted } = await manifests();
const workflow = await workflows();
const orders = {
  'the items of an execution, started': startOfExecution(),
  'the items of an execution, deleted': endOfExecution(),
  siblings: siblings(),
  'manifests, created': created,
  'manifests, deleted': deleted,
  'dependents, reconciled': workflow.reconciled,
  'dependents, deleted': workflow.deleted,
};
process.stdout.write(JSON.stringify(orders));
