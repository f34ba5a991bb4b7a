/** Stories with a known end, which must be the same whatever happens to the controllers on the way. */
import { blueprint, child, childA, childB, consumer, mockItem, producer, root } from './landscape.ts';
import type { Scene } from './scene.ts';

export interface Story {
  readonly name: string;
  /** Creates what exists before the faults begin. */
  prepare(scene: Scene): Promise<void>;
  /** The action of the user that starts it. */
  begin(scene: Scene): Promise<void>;
  /** Waits for the end. */
  end(scene: Scene): Promise<void>;
  /** The total number of jobs of each root. */
  readonly jobs: Readonly<Record<string, number>>;
}

/** Many run at once, and the first one is checked first. */
const PATIENCE = { ms: 60_000 };
const nothing = (): Promise<void> => Promise.resolve();

/** An installation with an execution, an item that exports, and a data object with the export. */
const single = () =>
  root('single', {
    items: [mockItem('app', { export: { url: 'example' } })],
    gives: { address: 'address' },
    values: { address: '{{ .values.deployitems.app.url }}' },
  });

/** Children that pass data on, one with an item, and an item of the parent itself. */
const family = () =>
  root('family', {
    items: [mockItem('own')],
    children: [childA(), childB({ items: [mockItem('app')] })],
  });

const run = async (scene: Scene, name: string): Promise<void> => {
  await scene.finished(name, 'Succeeded', PATIENCE);
};

const deletion = (name: string, make: () => ReturnType<typeof root>): Story => ({
  name: `the deletion of ${name}`,
  async prepare(scene) {
    await scene.create(make());
    await run(scene, make().metadata.name);
  },
  begin: (scene) => scene.delete(make().metadata.name),
  end: (scene) => scene.empty(PATIENCE),
  jobs: { [make().metadata.name]: 2 },
});

/** Two roots, started together: the consumer waits for data of the producer. */
const pair: Story = {
  name: 'two roots of which one waits for data of the other',
  prepare: nothing,
  async begin(scene) {
    await scene.create(producer({ items: [mockItem('app')] }));
    await scene.create(consumer({ items: [mockItem('app')] }));
  },
  async end(scene) {
    await run(scene, 'producer');
    await run(scene, 'consumer');
  },
  jobs: { producer: 1, consumer: 1 },
};

export const stories: readonly Story[] = [
  {
    name: 'an installation with an item that exports',
    prepare: nothing,
    begin: async (scene) => void (await scene.create(single())),
    end: (scene) => run(scene, 'single'),
    jobs: { single: 1 },
  },
  {
    name: 'a tree that passes data on',
    prepare: nothing,
    begin: async (scene) => void (await scene.create(family())),
    end: (scene) => run(scene, 'family'),
    jobs: { family: 1 },
  },
  pair,
  deletion('an installation with an item', single),
  deletion('a family', family),
];

/** One item is removed, another added, and a child without objects gets an item and a child. */
export const change: Story = {
  name: 'a change of a tree',
  async prepare(scene) {
    await scene.create(root('family', { items: [mockItem('old')], children: [child('a')] }));
    await run(scene, 'family');
  },
  async begin(scene) {
    const children = [child('a', { items: [mockItem('app')], children: [child('grand')] })];
    await scene.setBlueprint('family', blueprint({ items: [mockItem('new')], children }));
    await scene.operation('family', 'reconcile');
  },
  async end(scene) {
    const [first] = scene.jobs('family');
    await scene.finished('family', 'Succeeded', { ...PATIENCE, after: first });
  },
  jobs: { family: 2 },
};
