/** Trees that grow without end, and installations with a huge number of items. */
import { expect } from 'chai';
import { installationKind, type Installation } from '../../src/api/kinds/installation.ts';
import { annotations } from '../../src/api/labels.ts';
import type { Client } from '../../src/runtime/types.ts';
import { mockItem, rendersItself, root } from '../support/landscape.ts';
import { attacks, type Scene } from './stage/attack.ts';
import { failing, templated, withBlueprint } from './stage/objects.ts';
import { until } from './stage/stage.ts';

/** The root and everything below has these sub-installations: the files of the blueprint itself, this many times. */
const itself = (times: number): object => {
  const [execution] = rendersItself.subinstallationExecutions;
  const { template = '' } = execution ?? {};
  const [head = '', ...one] = template.split('\n');
  const copies = Array.from({ length: times }, (_, i) =>
    one.join('\n').replace('name: again', `name: again-${String(i)}`),
  );
  return { subinstallationExecutions: [{ ...execution, template: [head, ...copies].join('\n') }] };
};

async function count(client: Client, namespace: string): Promise<number> {
  let number = 0;
  for await (const { items } of client.list<Installation>(installationKind, {
    namespace,
    metadataOnly: true,
  })) {
    number += items.length;
  }
  return number;
}

/** Waits until the number of installations no longer changes. */
async function untilStill({ client, namespace }: Scene): Promise<number> {
  let before = -1;
  return until(
    'the tree grows no more',
    async () => {
      const now = await count(client, namespace);
      const isStill = now === before;
      before = now;
      return isStill ? now : undefined;
    },
    { patienceMs: 60_000, everyMs: 3_000 },
  );
}

attacks({
  title: 'trees',
  attacks: [
    {
      title: 'a blueprint that renders itself',
      launch: (scene) => failing(scene, root('depth', { more: rendersItself }), /limits\.treeRecursion/),
      async after(scene) {
        const number = await untilStill(scene);
        expect(number).to.be.below(10);
        return `${String(number)} installations`;
      },
      patienceMs: 90_000,
    },
    {
      title: '200,000 deploy items, and 200,000 sub-installations',
      async launch(scene) {
        const item = JSON.stringify(mockItem('NAME')).replace('NAME', 'a{{ $i }}');
        const list = (name: string, element: string): string =>
          `{"${name}": [{{ range $i, $e := until 200000 }}${element},{{ end }}]}`;
        const items = templated(list('deployItems', item));
        const subs = JSON.stringify({
          apiVersion: 'landscaper.gardener.cloud/v1alpha1',
          kind: 'Blueprint',
          jsonSchema: 'https://json-schema.org/draft/2019-09/schema',
          subinstallationExecutions: [
            { name: 'many', type: 'GoTemplate', template: list('subinstallations', '{"name":"a{{ $i }}"}') },
          ],
        });
        return [
          ...(await failing(scene, withBlueprint('items', items), /10[,.]?000|templating\.\w+/)),
          ...(await failing(scene, withBlueprint('subs', subs), /10[,.]?000|templating\.\w+/)),
        ];
      },
    },
    {
      title: '1,500 deploy items, which are allowed, and fail',
      async launch(scene) {
        const item = JSON.stringify(mockItem('NAME', { phase: 'Failed' })).replace('NAME', 'a{{ $i }}');
        const text = templated(`{"deployItems": [{{ range $i, $e := until 1500 }}${item},{{ end }}]}`);
        return failing(scene, withBlueprint('allowed', text));
      },
      patienceMs: 90_000,
    },
  ],
});

attacks({
  title: 'trees that double',
  attacks: [
    {
      title: 'a blueprint that renders itself twice',
      launch: (scene) => failing(scene, root('fork', { more: itself(2) }), /limits\.treeRecursion/),
      async after(scene) {
        const number = await untilStill(scene);
        expect(number).to.be.below(300);
        return `${String(number)} installations`;
      },
      patienceMs: 90_000,
    },
  ],
});

attacks({
  title: 'trees that double, where blueprints may render themselves often',
  configuration: { limits: { treeObjects: 300, treeRecursion: 60 } },
  attacks: [
    {
      title: 'a blueprint that renders itself twice',
      launch: (scene) => failing(scene, root('fork', { more: itself(2) }), /limits\.\w+/),
      async after(scene) {
        const number = await untilStill(scene);
        expect(number).to.be.below(400);
        return `${String(number)} installations`;
      },
      patienceMs: 90_000,
    },
  ],
});

attacks({
  title: 'trees that are interrupted',
  attacks: [
    {
      title: 'a blueprint that renders itself twice, interrupted and then deleted',
      async launch(scene) {
        await scene.create(installationKind, root('fork', { more: itself(2) }));
        await until('it has grown', async () =>
          (await count(scene.client, scene.namespace)) > 60 ? true : undefined,
        );
        const key = `${scene.namespace}/fork`;
        const body = { metadata: { annotations: { [annotations.operation]: 'interrupt' } } };
        await scene.client.send({ verb: 'merge', kind: installationKind, key, body });
        return [];
      },
      async after(scene) {
        const interrupted = await untilStill(scene);
        await scene.client.send({ verb: 'delete', kind: installationKind, key: `${scene.namespace}/fork` });
        await until(
          'the tree has gone',
          async () => ((await count(scene.client, scene.namespace)) === 0 ? true : undefined),
          { patienceMs: 60_000, everyMs: 1_000 },
        );
        return `${String(interrupted)} installations after the interruption, none after the deletion`;
      },
    },
  ],
});
