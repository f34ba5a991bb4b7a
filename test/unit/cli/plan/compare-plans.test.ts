/** What a fresh plan does that a saved one does not list. */
import { expect } from 'chai';
import { unlisted } from '../../../../src/cli/commands/plan/compare-plans.ts';
import type {
  ItemDocument,
  ObjectDocument,
  PlanDocument,
} from '../../../../src/cli/commands/plan/document.ts';

const item = (objects: readonly ObjectDocument[], more: Partial<ItemDocument> = {}): ItemDocument => ({
  path: 'app/web',
  type: 'example.org/manifest',
  target: 'cluster',
  state: 'same',
  isKnown: true,
  objects,
  notes: [],
  ...more,
});
const plan = (...items: readonly ItemDocument[]): PlanDocument => ({
  apiVersion: 'espalier.dev/v1alpha1',
  kind: 'Plan',
  items,
  problems: [],
  waits: [],
  summary: { create: 0, change: 0, delete: 0, unchanged: 0, kept: 0, unknown: 0, problems: 0 },
});
const object = (change: ObjectDocument['change'], more: Partial<ObjectDocument> = {}): ObjectDocument => ({
  change,
  apiVersion: 'v1',
  kind: 'ConfigMap',
  namespace: 'shop',
  name: 'web',
  ...more,
});
const colored = (before: string, after: string): ObjectDocument =>
  object('change', { fields: [{ path: 'data.color', before, after }] });
const created = (color: string): ObjectDocument => object('create', { content: { data: { color } } });
const service = (clusterIP: string, port: number): ObjectDocument =>
  object('create', {
    kind: 'Service',
    content: { spec: { clusterIP, ports: [{ port, nodePort: port + 1 }] } },
  });

const ON = '(DeployItem app/web on target cluster)';
const tree = (message: string): PlanDocument => ({
  ...plan(),
  problems: [{ path: 'app/inner', message, isUnknown: true }],
});

describe('a fresh plan, compared with a saved one', () => {
  for (const [what, fresh, saved, lines] of [
    ['equal', plan(item([colored('red', 'blue')])), plan(item([colored('red', 'blue')])), []],
    ['less than saved', plan(item([object('unchanged')])), plan(item([colored('red', 'blue')])), []],
    [
      'another value',
      plan(item([colored('red', 'green')])),
      plan(item([colored('red', 'blue')])),
      [`~ ConfigMap shop/web ${ON}: data.color: "red" → "green"; planned: "red" → "blue"`],
    ],
    [
      'another value before',
      plan(item([colored('green', 'blue')])),
      plan(item([colored('red', 'blue')])),
      [`~ ConfigMap shop/web ${ON}: data.color: "green" → "blue"; planned: "red" → "blue"`],
    ],
    [
      'another field',
      plan(item([colored('red', 'blue')])),
      plan(item([])),
      [`~ ConfigMap shop/web ${ON}: data.color: "red" → "blue": not in the saved plan`],
    ],
    ['created with the same content', plan(item([created('red')])), plan(item([created('red')])), []],
    [
      'created with other content',
      plan(item([created('blue')])),
      plan(item([created('red')])),
      [`+ ConfigMap shop/web ${ON}: data.color: "blue"; planned: "red"`],
    ],
    [
      'created instead of changed',
      plan(item([created('blue')])),
      plan(item([colored('red', 'blue')])),
      [`+ ConfigMap shop/web ${ON}: not in the saved plan`],
    ],
    [
      'a deletion',
      plan(item([object('delete')])),
      plan(item([object('kept')])),
      [`- ConfigMap shop/web ${ON}: not in the saved plan`],
    ],
    [
      'the same on another target',
      plan(item([created('red')], { target: 'other' })),
      plan(item([created('red')])),
      ['+ ConfigMap shop/web (DeployItem app/web on target other): not in the saved plan'],
    ],
    [
      'another configuration',
      plan(item([], { state: 'changed' })),
      plan(item([])),
      ['DeployItem app/web on target cluster: its configuration changes: not in the saved plan'],
    ],
    [
      'an item that is no longer known',
      plan(item([], { isKnown: false, note: 'no plans' })),
      plan(item([])),
      ['? DeployItem app/web on target cluster: no plans: not in the saved plan'],
    ],
    [
      'an item that is unknown for another reason',
      plan(item([], { isKnown: false, note: 'no plans' })),
      plan(item([], { isKnown: false, note: 'its deployer does not run' })),
      ['? DeployItem app/web on target cluster: no plans: not in the saved plan'],
    ],
    [
      'an unknown item that was unknown',
      plan(item([], { isKnown: false })),
      plan(item([], { isKnown: false })),
      [],
    ],
    [
      'a note',
      plan(item([], { notes: ['hook install runs'] })),
      plan(item([])),
      ['! DeployItem app/web on target cluster: hook install runs: not in the saved plan'],
    ],
    [
      'a failure of an item',
      plan(item([], { isKnown: false, problem: 'no such chart' })),
      plan(item([])),
      ['✖ DeployItem app/web on target cluster: no such chart: not in the saved plan'],
    ],
    [
      'a failure of an object',
      plan(item([object('unchanged', { problem: 'forbidden' })])),
      plan(item([])),
      [`✖ ConfigMap shop/web ${ON}: forbidden: not in the saved plan`],
    ],
    ['unknown imports that were unknown', tree('not known: a'), tree('not known: a'), []],
    [
      'other unknown imports',
      tree('not known: a, b'),
      tree('not known: a'),
      ['? Installation app/inner: not known: a, b: not in the saved plan'],
    ],
    [
      'other assigned addresses',
      plan(item([service('10.0.0.1', 80)])),
      plan(item([service('10.0.0.2', 80)])),
      [],
    ],
    [
      'another port',
      plan(item([service('10.0.0.1', 81)])),
      plan(item([service('10.0.0.1', 80)])),
      [`+ Service shop/web ${ON}: spec.ports[0].port: 81; planned: 80`],
    ],
    [
      'a headless service',
      plan(item([service('None', 80)])),
      plan(item([service('10.0.0.1', 80)])),
      [`+ Service shop/web ${ON}: spec.clusterIP: "None"; planned: nothing`],
    ],
  ] as const)
    it(`${what}: ${lines.length === 0 ? 'no difference' : 'a difference'}`, () => {
      expect(unlisted(fresh, saved)).to.deep.equal(lines);
    });
});
