/** Large descriptors: how their size is counted, and where they are processed. */
import { expect } from 'chai';
import { readDescriptor } from '../../../src/components/descriptor.ts';
import {
  descriptorsHere,
  descriptorWork,
  inWorkerIfLarge,
  type DescriptorRunner,
} from '../../../src/components/descriptor-work.ts';
import { ContentTooLarge, ContentInvalid } from '../../../src/components/errors.ts';
import { filesInMemory } from '../../../src/components/files.ts';
import { localRepository } from '../../../src/components/local-repository.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { inlineFileTree } from '../../../src/lib/file-tree.ts';
import { Pace } from '../../../src/lib/pace.ts';

const what = 'the component descriptor of a.b/c:1';
const document = (resources: readonly object[] = [], name = 'a.b/c') => ({
  meta: { schemaVersion: 'v2' },
  component: {
    name,
    version: '1',
    provider: 'x',
    repositoryContexts: [],
    sources: [],
    componentReferences: [],
    resources,
  },
});
const resource = (more: object = {}) => ({ name: 'r', type: 't', ...more });
const many = (count: number) => document(Array.from({ length: count }, () => resource()));
const text = (value: unknown): string => JSON.stringify(value);
const refusal = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'nothing',
    (error: unknown) => (error as Error).message,
  );

describe('a component descriptor', () => {
  it('counts as many bytes as it has as JSON, whatever it has as YAML', () => {
    const long = document([resource({ text: 'x'.repeat(100_000) })]);
    const spaced = `# ${'-'.repeat(50_000)}\n${text(long)}`;
    const { bytes } = descriptorWork.readDescriptor({ source: { text: spaced }, what });
    expect(bytes).to.be.within(100_000, 100_600);
  });

  it('has strings where YAML reads numbers without quotes, as its readers in Go have', () => {
    const v2 = `meta: {schemaVersion: v2}
component:
  {name: a.b/c, version: 1.10, provider: 5, labels: [{name: 1, value: 2}], repositoryContexts: [], sources: [],
  componentReferences: [{name: 1, componentName: a.b/d, version: 2}],
  resources: [{name: 3, type: t, version: 1.0, extraIdentity: {arch: 64}, relation: ~, access: {type: x, size: 5}}]}`;
    const v3 = `apiVersion: ocm.software/v3alpha1
kind: ComponentVersion
metadata: {name: a.b/c, version: 1.10, provider: 5}
spec: {resources: [{name: 3, type: t, version: 1.0}]}`;
    for (const source of [v2, v3]) {
      const { component } = descriptorWork.readDescriptor({ source: { text: source }, what });
      expect(component).to.deep.include({ version: '1.1' });
      expect(component.resources[0]).to.include({ name: '3', version: '1' });
    }
    const { component } = descriptorWork.readDescriptor({ source: { text: v2 }, what });
    expect(component.labels).to.deep.equal([{ name: '1', value: 2 }]);
    expect(component.resources[0]).to.deep.include({ extraIdentity: { arch: '64' } });
    expect(component.resources[0]?.access).to.deep.equal({ type: 'x', size: 5 });
    expect(component.references[0]).to.deep.include({ name: '1', version: '2' });
  });

  it('counts at least 32 bytes for each value', () => {
    const empty = document([resource({ lists: Array.from({ length: 10_000 }, () => []) })]);
    const { bytes } = descriptorWork.readDescriptor({ source: { document: empty }, what });
    expect(bytes).to.be.at.least(640_000);
  });

  it('is refused when its size counts more than 4 MiB, even if its JSON is shorter', () => {
    const lists = Array.from({ length: 70_000 }, () => []);
    expect(() =>
      descriptorWork.readDescriptor({ source: { document: document([resource({ lists })]) }, what }),
    )
      .to.throw(ContentTooLarge)
      .with.property('message')
      .that.matches(
        /^the component descriptor of a\.b\/c:1 has more than 4 MiB as JSON.+this limit is fixed$/,
      );
  });

  it('is refused when it is nested more than 3000 levels deep', () => {
    const nested = (levels: number) =>
      document([resource({ deep: Array.from({ length: levels }).reduce((inner) => [inner], 'x') })]);
    const reading = (levels: number) => () =>
      descriptorWork.readDescriptor({ source: { document: nested(levels) }, what });
    expect(reading(2990)).not.to.throw();
    for (const levels of [3000, 20_000])
      expect(reading(levels)).to.throw(
        ContentInvalid,
        'nested more than 3000 levels deep; this limit is fixed',
      );
  });
});

const NOTHING_MORE = { extraIdentity: undefined, labels: undefined, digest: undefined };

describe('work on descriptors', () => {
  const asked: string[] = [];
  const noting =
    <Job, Result>(name: string, work: (job: Job) => Promise<Result>) =>
    (job: Job): Promise<Result> => {
      asked.push(name);
      return work(job);
    };
  const runner = inWorkerIfLarge(
    {
      readDescriptor: noting('readDescriptor', descriptorsHere.readDescriptor),
      verifyReference: noting('verifyReference', descriptorsHere.verifyReference),
      verifySignature: noting('verifySignature', descriptorsHere.verifySignature),
    },
    new Pace(systemClock),
  );
  beforeEach(() => {
    asked.length = 0;
  });

  it('is done in this thread for small descriptors', async () => {
    const target = readDescriptor(many(10));
    await runner.readDescriptor({ source: { text: text(many(10)) }, what });
    await runner.readDescriptor({ source: { document: many(10) }, what });
    const reference = { name: 'r', componentName: 'a.b/c', version: '1', ...NOTHING_MORE };
    expect(await runner.verifyReference({ from: target, reference, target })).to.equal(false);
    expect(asked).to.deep.equal([]);
  });

  it('is done by the runner for large descriptors', async () => {
    const target = readDescriptor(many(1000));
    await runner.readDescriptor({ source: { text: text(many(1000)) }, what });
    await runner.readDescriptor({ source: { document: many(1000) }, what });
    const reference = { name: 'r', componentName: 'a.b/c', version: '1', ...NOTHING_MORE };
    expect(await runner.verifyReference({ from: target, reference, target })).to.equal(false);
    expect(await refusal(runner.verifySignature({ component: target, name: 's', trust: {} }))).to.contain(
      'signature s of component a.b/c:1',
    );
    expect(asked).to.deep.equal(['readDescriptor', 'readDescriptor', 'verifyReference', 'verifySignature']);
  });
});

describe('descriptors in one folder', () => {
  const repositoryOf = (files: object, runner: DescriptorRunner = descriptorsHere) => {
    const tree = filesInMemory(inlineFileTree(files));
    return localRepository({
      descriptors: tree,
      descriptorFolder: '/',
      blobs: tree,
      blobFolder: '/',
      context: {},
      name: 'it',
      runner,
    });
  };

  it('are parsed once for all lookups', async () => {
    const read: string[] = [];
    const names = Array.from({ length: 20 }, (_, i) => `a.b/c${String(i)}`);
    const naming = names.join(' ');
    const files = Object.fromEntries(
      names.map((name, i) => [`${String(i)}.json`, text(document([resource({ naming })], name))]),
    );
    const runner: DescriptorRunner = {
      ...descriptorsHere,
      readDescriptor: (job) => {
        read.push(job.what);
        return descriptorsHere.readDescriptor(job);
      },
    };
    const repository = repositoryOf(files, runner);
    for (const name of names)
      expect(await repository.find(name, '1')).to.have.nested.property('component.name', name);
    expect(read).to.have.length(20);
  });

  it('are no more than 10,000', async () => {
    const files = Object.fromEntries(Array.from({ length: 10_001 }, (_, i) => [String(i), '']));
    expect(await refusal(repositoryOf(files).find('a.b/c', '1'))).to.contain(
      'more than 10000 files; this limit is fixed',
    );
  });
});
