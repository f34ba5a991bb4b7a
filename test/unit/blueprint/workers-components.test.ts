/** Components in worker processes: root values of templates, and large descriptors of tenants. */
import { expect } from 'chai';
import { workerRunners, type WorkerRunners } from '../../../src/blueprint/workers/runner.ts';
import { ContentInvalid } from '../../../src/components/errors.ts';
import { readDescriptor } from '../../../src/components/descriptor.ts';
import { viewOf } from '../../../src/components/view.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { fileTreeOf } from '../../../src/lib/file-tree.ts';
import { outcome } from '../../support/outcome.ts';
import { blueprint, runner as here } from '../dataflow/given.ts';

const go = (template: string) => ({ name: 'main', type: 'GoTemplate', template });
const document = (resources: readonly object[]) => ({
  meta: { schemaVersion: 'v2' },
  component: {
    name: 'example.org/a',
    version: '1',
    provider: 'x',
    repositoryContexts: [],
    sources: [],
    componentReferences: [],
    resources,
  },
});
const component = viewOf(
  {
    source: { kind: 'inline', document: {} },
    components: [readDescriptor(document([{ name: 'web', type: 'x' }]))],
    targets: [],
  },
  new Map(),
);
const loaded = { ...blueprint(), component };

describe('components in worker processes', () => {
  let runners: WorkerRunners;
  before(() => {
    runners = workerRunners({ clock: systemClock });
  });
  after(() => runners.close());

  it('are root values of templates in the requested format, the same as in this thread', async () => {
    const template =
      'a: {{ .cd.component.name }}\nb: {{ (index .components.components 0).component.version | quote }}';
    const job = { execution: go(template), values: { cd: null }, blueprint: loaded, form: 'v2' as const };
    const { output } = await runners.of('shop').render(job);
    expect(output).to.deep.equal({ a: 'example.org/a', b: '1' });
    expect(output).to.deep.equal((await here.render(job)).output);
    const v3 = {
      ...job,
      execution: go('a: {{ .cd.metadata.name }}'),
      form: 'ocm.software/v3alpha1' as const,
    };
    expect((await runners.of('shop').render(v3)).output).to.deep.equal({ a: 'example.org/a' });
  });

  it('stay as they are when a template changes its root values', async () => {
    const template =
      '{{ $_ := set .cd.component "name" "changed" }}{{ $r := getResource "name" "web" }}a: {{ .cd.component.name }}-{{ $r.type }}{{ $_ := set $r "type" "changed" }}';
    const job = { execution: go(template), values: {}, blueprint: loaded, form: 'v2' as const };
    for (let i = 0; i < 4; i++)
      expect((await runners.of('shop').render(job)).output).to.deep.equal({ a: 'changed-x' });
  });

  it('are parsed there: reading that takes too long fails permanently, with the key that allows more', async () => {
    const short = workerRunners({ clock: systemClock, limits: { timeoutMs: 1 } });
    const text = JSON.stringify(document(Array.from({ length: 400_000 }, () => ({ name: 'r', type: 't' }))));
    const reading = short.of('shop').readDescriptor({ source: { text }, what: 'it' });
    expect(await outcome(reading)).to.throw(ContentInvalid, /^reading it was stopped .+templating\.timeout/);
    await short.close();
  });

  it('are parsed there with the same result as in this thread', async () => {
    const text = JSON.stringify(document(Array.from({ length: 2_000 }, () => ({ name: 'r', type: 't' }))));
    const job = { source: { text }, what: 'it' };
    const there = await runners.of('shop').readDescriptor(job);
    expect(there.bytes).to.equal((await here.readDescriptor(job)).bytes);
    expect(there.component.resources).to.have.length(2_000);
  });

  it('leave room for work: files of blueprints are forgotten when they are more than 16 MiB together', async () => {
    const small = workerRunners({ clock: systemClock, workers: 1 });
    let sent = 0;
    const trees = [1, 2, 3].map((i) => {
      const tree = fileTreeOf(new Map([['f', Buffer.alloc(6 * 2 ** 20, i)]]));
      const { root } = tree;
      return {
        ...tree,
        // Read once for its id, and once when a message is made of it.
        get root() {
          sent++;
          return root;
        },
      };
    });
    const run = async (i: number): Promise<number> => {
      const before = sent;
      const files = trees[i]!;
      await small
        .of('shop')
        .render({ execution: go('a: 1'), values: {}, blueprint: { ...blueprint(), files } });
      return sent - before;
    };
    expect([await run(0), await run(1), await run(0), await run(1)]).to.deep.equal([2, 2, 0, 0]);
    expect([await run(2), await run(1), await run(0)]).to.deep.equal([2, 0, 1]);
    await small.close();
  });
});
