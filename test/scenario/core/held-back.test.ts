/**
 * Jobs that do not start at once on purpose: of suspended roots, and of roots that start only after an import has
 * changed.
 */
import { expect } from 'chai';
import { installationKind } from '../../../src/api/kinds/installation.ts';
import { annotations } from '../../../src/api/labels.ts';
import type { Kind, Obj } from '../../../src/runtime/types.ts';
import type { Scene } from '../../support/scene.ts';
import { useCluster } from '../../support/cluster.ts';
import {
  RECONCILE,
  blueprint,
  consumer,
  fakeItem,
  mockItem,
  producer,
  root,
  web,
} from '../../support/landscape.ts';
import { eventually } from '../../support/waiting.ts';

interface Event extends Obj {
  readonly reason?: string;
  readonly note?: string;
}
const eventKind: Kind<Event> = {
  group: 'events.k8s.io',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
};

const SUSPENDED = { [annotations.suspended]: 'true' };
const IF_CHANGED = { [annotations.startIfImportsChanged]: 'true' };

const pendingOf = (scene: Scene, name: string) =>
  scene.installation(name)?.metadata.annotations?.[annotations.operation];

describe('a suspended root', () => {
  const here = useCluster();

  it('starts no job until it is resumed, and then the requested one', async () => {
    const scene = await here.scene();
    await scene.create(
      root('web', { items: [mockItem('app')], annotations: { ...RECONCILE, ...SUSPENDED } }),
    );
    await scene.calm();
    expect(scene.jobs('web')).to.deep.equal([]);
    expect(pendingOf(scene, 'web')).to.equal('reconcile');
    await scene.annotate(installationKind, 'web', { [annotations.suspended]: null });
    await scene.finished('web', 'Succeeded');
    await scene.calm();
    expect(scene.jobs('web')).to.have.length(1);
  });

  it('shows that the ignore annotation does not hold a job back, and what does', async () => {
    const scene = await here.scene();
    const ignored = { ...RECONCILE, [annotations.ignore]: 'true' };
    await scene.create(root('web', { items: [mockItem('app')], annotations: ignored }));
    await scene.finished('web', 'Succeeded');
    const told = async (): Promise<readonly string[]> => {
      const items: Event[] = [];
      for await (const page of scene.cluster.client.list(eventKind, { namespace: scene.ns })) {
        items.push(...page.items);
      }
      return items.filter(({ reason }) => reason === 'IgnoreHasNoEffect').map(({ note = '' }) => note);
    };
    const notes = await eventually('the event is written', async () => {
      await scene.calm();
      const found = await told();
      return found.length > 0 && found;
    });
    expect(notes).to.have.length(1);
    expect(notes[0]).to.contain(annotations.suspended);
  });

  it('finishes a running job', async () => {
    const scene = await here.scene();
    await scene.create(web());
    await scene.waiting('web', 'app');
    await scene.annotate(installationKind, 'web', SUSPENDED);
    await scene.answer('web', 'app');
    await scene.finished('web', 'Succeeded');
  });

  it('is not repeated on schedule', async () => {
    const scene = await here.scene();
    const automaticReconcile = { failedReconcile: { interval: '1s' } };
    await scene.create(web({ spec: { automaticReconcile } }));
    await scene.waiting('web', 'app');
    await scene.annotate(installationKind, 'web', SUSPENDED);
    await scene.answer('web', 'app', 'Failed');
    await scene.finished('web', 'Failed');
    await scene.calm();
    expect(scene.jobs('web')).to.have.length(1);
  });

  it('does not block the roots that import from it', async () => {
    const scene = await here.scene();
    await scene.create(producer());
    await scene.finished('producer', 'Succeeded');
    await scene.annotate(installationKind, 'producer', { ...SUSPENDED, ...RECONCILE });
    await scene.create(consumer());
    await scene.finished('consumer', 'Succeeded');
    expect(scene.jobs('producer')).to.have.length(1);
  });

  it('can be deleted', async () => {
    const scene = await here.scene();
    await scene.create(root('web', { items: [mockItem('app')] }));
    await scene.finished('web', 'Succeeded');
    await scene.annotate(installationKind, 'web', SUSPENDED);
    await scene.delete('web');
    await scene.empty();
  });
});

describe('a root that starts only after an import has changed', () => {
  const here = useCluster();

  const connected = async (scene: Scene): Promise<void> => {
    await scene.create(producer());
    await scene.finished('producer', 'Succeeded');
    await scene.create(consumer({ annotations: { ...RECONCILE, ...IF_CHANGED } }));
    await scene.finished('consumer', 'Succeeded');
  };

  it('does not start when its predecessor exports the same value again', async () => {
    const scene = await here.scene();
    await connected(scene);
    await scene.again('producer', 'Succeeded');
    await scene.calm();
    expect(scene.jobs('consumer')).to.have.length(1);
  });

  it('starts when the predecessor exports another value', async () => {
    const scene = await here.scene();
    await connected(scene);
    const first = scene.jobs('consumer')[0];
    await scene.setBlueprint('producer', blueprint({ gives: { out: 'other' } }));
    await scene.again('producer', 'Succeeded');
    await scene.finished('consumer', 'Succeeded', { after: first });
    expect(scene.jobs('consumer')).to.have.length(2);
  });

  it('starts if its own last job has failed', async () => {
    const scene = await here.scene();
    await scene.create(producer());
    await scene.finished('producer', 'Succeeded');
    await scene.create(consumer({ items: [fakeItem('app')], annotations: { ...RECONCILE, ...IF_CHANGED } }));
    await scene.answer('consumer', 'app', 'Failed');
    await scene.finished('consumer', 'Failed');
    await scene.again('producer', 'Succeeded');
    await scene.until('the second job', () => scene.jobs('consumer').length === 2);
  });

  it('starts when the content of an exported target changes', async () => {
    const scene = await here.scene();
    const gives = (server: string) => ({
      exports: [{ name: 'cluster', type: 'target', targetType: 'test.example/cluster' }],
      exportExecutions: [
        {
          name: 'e',
          type: 'GoTemplate',
          template: `exports:\n  cluster:\n    type: test.example/cluster\n    config: {server: ${server}}\n`,
        },
      ],
    });
    const targets = { exports: { targets: [{ name: 'cluster', target: 'cluster' }] } };
    await scene.create(root('producer', { more: gives('one'), spec: targets }));
    await scene.finished('producer', 'Succeeded');
    await scene.create(
      root('consumer', {
        annotations: { ...RECONCILE, ...IF_CHANGED },
        more: { imports: [{ name: 'in', type: 'target', targetType: 'test.example/cluster' }] },
        spec: { imports: { targets: [{ name: 'in', target: 'cluster' }] } },
      }),
    );
    await scene.finished('consumer', 'Succeeded');
    await scene.again('producer', 'Succeeded');
    await scene.calm();
    expect(scene.jobs('consumer')).to.have.length(1);
    await scene.setBlueprint('producer', { ...blueprint({}), ...gives('two') });
    await scene.again('producer', 'Succeeded');
    await scene.until('the second job', () => scene.jobs('consumer').length === 2);
  });
});
