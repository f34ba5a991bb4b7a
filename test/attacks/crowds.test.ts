/** Very many objects of one namespace, and objects with very many entries. */
import { installationKind, type Installation } from '../../src/api/kinds/installation.ts';
import { executionKind } from '../../src/api/kinds/execution.ts';
import { targetKind, type Target } from '../../src/api/kinds/target.ts';
import { API_VERSION, GROUP } from '../../src/api/labels.ts';
import type { Kind, Obj } from '../../src/runtime/types.ts';
import { blueprint, mockItem, RECONCILE, root } from '../support/landscape.ts';
import { attacks, type Scene, type Victim } from './stage/attack.ts';
import { failing, withBlueprint } from './stage/objects.ts';

const times = <T>(count: number, one: (i: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, i) => one(i));

/** Creates objects, some at a time, as a client of an attacker would. */
async function createAll<T extends Obj>(
  { create }: Scene,
  kind: Kind<T>,
  objects: readonly T[],
): Promise<void> {
  const waiting = [...objects];
  const worker = async (): Promise<void> => {
    for (let next = waiting.pop(); next; next = waiting.pop()) await create(kind, next);
  };
  await Promise.all(times(16, worker));
}

const broken = { more: { deployExecutions: [{ name: 'd', type: 'None', template: '' }] } };
/** A root without a job that exports to the data object of the next and imports that of the one before. */
const link = (i: number, annotations: Readonly<Record<string, string>> = {}): Installation =>
  root(`link-${String(i)}`, {
    annotations,
    takes: { from: `data-${String(i)}` },
    gives: { to: `data-${String(i + 1)}` },
  });

const victim = (kind: Kind, name: string, ...says: readonly RegExp[]): Victim => ({ kind, name, says });

attacks({
  title: 'crowds',
  attacks: [
    {
      title: '3,000 installations without a job, each the predecessor of the next, and a job of the last',
      prepare: (scene) =>
        createAll(
          scene,
          installationKind,
          times(3_000, (i) => link(i)),
        ),
      async launch(scene) {
        await scene.create(installationKind, {
          ...link(3_000),
          metadata: { name: 'link-3000', annotations: { [`${GROUP}/operation`]: 'reconcile' } },
        });
        return [victim(installationKind, 'link-3000')];
      },
      patienceMs: 60_000,
    },
    {
      title: '1,000 jobs of installations, each the predecessor of the next',
      async launch(scene) {
        const start = { [`${GROUP}/operation`]: 'reconcile' };
        await createAll(
          scene,
          installationKind,
          times(1_000, (i) => link(i, start)),
        );
        return [victim(installationKind, 'link-0'), victim(installationKind, 'link-999')];
      },
      patienceMs: 120_000,
    },
    {
      title: '300 harmless installations of another namespace, created at once',
      async launch(scene) {
        const one = (i: number): Installation =>
          root(`harmless-${String(i)}`, { items: [mockItem('sings')], annotations: RECONCILE });
        await createAll(scene, installationKind, times(300, one));
        return times(300, (i) => ({
          ...victim(installationKind, one(i).metadata.name),
          phase: /^Succeeded$/,
        }));
      },
      patienceMs: 300_000,
    },
    {
      title: '5,000 targets, and an installation that imports a list of 20,000',
      prepare: (scene) =>
        createAll<Target>(
          scene,
          targetKind,
          times(5_000, (i) => ({
            apiVersion: API_VERSION,
            kind: 'Target',
            metadata: {
              name: `t${String(i)}`,
              labels: { 'data.landscaper.gardener.cloud/key': `t${String(i)}` },
            },
            spec: { type: 'example.org/any', config: {} },
          })),
        ),
      launch: (scene) =>
        failing(
          scene,
          withBlueprint(
            'many',
            JSON.stringify(blueprint({ ...broken })),
            {},
            {
              imports: { targets: [{ name: 'all', targets: times(20_000, (i) => `t${String(i)}`) }] },
            },
          ),
        ),
      patienceMs: 60_000,
    },
    {
      title: 'a status with 8,000 conditions',
      async launch(scene) {
        const time = '2026-01-01T00:00:00Z';
        const conditions = times(8_000, (i) => ({
          type: `Condition${String(i)}`,
          status: 'True',
          reason: 'Attack',
          message: 'x'.repeat(20),
          lastTransitionTime: time,
          lastUpdateTime: time,
        }));
        const victims = await failing(scene, root('conditions', { ...broken, annotations: {} }));
        const key = `${scene.namespace}/conditions`;
        const status = { observedGeneration: 1, conditions };
        await scene.client.send({
          verb: 'merge',
          kind: installationKind,
          key,
          body: { status },
          sub: 'status',
        });
        const annotations = { [`${GROUP}/operation`]: 'reconcile' };
        await scene.client.send({
          verb: 'merge',
          kind: installationKind,
          key,
          body: { metadata: { annotations } },
        });
        return victims;
      },
    },
    {
      title: 'a chain of 3,000 deploy items, and 300 items that depend on all others',
      async launch(scene) {
        const name = (i: number): string => `item-${String(i)}`;
        const chain = times(3_000, (i) =>
          mockItem(name(i), { phase: 'Failed' }, i > 0 ? { dependsOn: [name(i - 1)] } : {}),
        );
        const web = times(300, (i) =>
          mockItem(
            name(i),
            { phase: 'Failed' },
            { dependsOn: times(300, name).filter((other) => other !== name(i)) },
          ),
        );
        const annotations = { [`${GROUP}/operation`]: 'reconcile' };
        for (const [execution, deployItems] of [
          ['chain', chain],
          ['web', web],
        ] as const) {
          const key = `${scene.namespace}/${execution}`;
          await scene.create(executionKind, {
            apiVersion: API_VERSION,
            kind: 'Execution',
            metadata: { name: execution, annotations },
            spec: { deployItems: [...deployItems] },
          });
          const body = { status: { jobID: 'attack', phase: 'Init' } };
          await scene.client.send({ verb: 'merge', kind: executionKind, key, body, sub: 'status' });
        }
        return [victim(executionKind, 'chain'), victim(executionKind, 'web')];
      },
      patienceMs: 120_000,
    },
  ],
});
