import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { labels } from '../../../src/api/labels.ts';
import { changeRefusal, admissionRefusal, refusalForJob } from '../../../src/api/validation/index.ts';
import { broken, target } from '../../support/broken.ts';
import { abc, fakeItem, lonelyItem, plan, root, stack, web } from '../../support/landscape.ts';

const NAME_58 = 'n'.repeat(58);

describe('validation', () => {
  for (const { title, resource, object, sentence, isUnreadable, isWorkable } of broken) {
    it(`rejects ${title}${isWorkable ? ' in webhooks' : ''}`, () => {
      const refusal = admissionRefusal(resource, object);
      expect(refusal?.message).to.match(startingWith(sentence));
      expect(refusal?.kind).to.equal(isUnreadable ? 'unreadable' : 'wrong');
    });
    it(`${isWorkable ? 'lets' : 'prevents'} controllers ${isWorkable ? 'work with' : 'from working with'} ${title}`, () => {
      expect(refusalForJob(resource, object)).to.equal(
        isWorkable ? undefined : admissionRefusal(resource, object)?.message,
      );
    });
  }

  const good: readonly (readonly [string, Parameters<typeof admissionRefusal>[0], object])[] = [
    ['an installation', 'installations', web()],
    ['a parent', 'installations', stack()],
    ['a name of 58 characters', 'installations', root(NAME_58)],
    [
      'a generated name of 58 characters',
      'installations',
      { ...root(NAME_58), metadata: { name: NAME_58, generateName: `${'n'.repeat(52)}-` } },
    ],
    [
      'the empty component descriptor of children',
      'installations',
      root('a', { spec: { componentDescriptor: {} } }),
    ],
    [
      'an empty list of targets',
      'installations',
      root('a', { spec: { imports: { targets: [{ name: 't', targets: [] }] } } }),
    ],
    [
      'an empty map of targets',
      'installations',
      root('a', { spec: { imports: { targets: [{ name: 't', targetMap: {} }] } } }),
    ],
    [
      'schedules with keywords',
      'installations',
      root('a', {
        spec: {
          automaticReconcile: {
            succeededReconcile: { cronSpec: '@hourly' },
            failedReconcile: { cronSpec: '@every 1h' },
          },
        },
      }),
    ],
    ['an execution', 'executions', plan(abc())],
    ['an execution without items', 'executions', plan([])],
    ['an item without target', 'deployitems', lonelyItem()],
    ['an item with a target', 'deployitems', lonelyItem({ target: { name: 't', namespace: 'n' } })],
    ['a target with content', 'targets', target('t', { config: 5 })],
    ['a target with a secret', 'targets', target('t', { secretRef: { name: 's' } })],
    ['a target without content', 'targets', target('t', {})],
  ];
  for (const [title, resource, object] of good) {
    it(`accepts ${title}`, () => {
      expect(admissionRefusal(resource, object)).to.equal(undefined);
    });
  }

  it('reports all mistakes at once, without duplicates', () => {
    const object = plan([fakeItem('', { type: '' }), fakeItem('', { type: '' })]);
    expect(admissionRefusal('executions', object)?.message).to.equal(
      '[spec.deployItems[0].name: Required value: name must not be empty, ' +
        'spec.deployItems[0].type: Required value: type must not be empty, ' +
        'spec.deployItems[1].name: Required value: name must not be empty, ' +
        'spec.deployItems[1].type: Required value: type must not be empty]',
    );
  });

  it('does not search for cycles while a name is ambiguous', () => {
    const a = fakeItem('a', { dependsOn: ['a'] });
    expect(admissionRefusal('executions', plan([a, a]))?.message).to.not.contain('cycle');
  });

  it('follows a dependency chain as long as the longest list', () => {
    const chain = Array.from({ length: 10_000 }, (_, i) =>
      fakeItem(`i${i}`, { dependsOn: i > 0 ? [`i${i - 1}`] : [] }),
    );
    expect(admissionRefusal('executions', plan([...chain].reverse()))).to.equal(undefined);
  });

  it('repeats no contents of a target', () => {
    const object = target('both', { config: { token: 'hidden' }, secretRef: { name: 's' } });
    expect(JSON.stringify(admissionRefusal('targets', object))).to.not.contain('hidden');
  });

  it('skips objects with the label that disables validation, in controllers as in webhooks, if they can be read', () => {
    const spared = broken.filter(({ isWorkable }) => !isWorkable);
    for (const { resource, object, isUnreadable } of spared) {
      const metadata = { ...object.metadata, labels: { [labels.skipValidation]: 'true' } };
      const refusal = refusalForJob(resource, { ...object, metadata });
      if (isUnreadable) expect(refusal).to.be.a('string');
      else expect(refusal).to.equal(undefined);
    }
  });

  it('rejects a change of the type of a deploy item', () => {
    const other = lonelyItem({ type: 'test.example/other' });
    expect(changeRefusal('deployitems', lonelyItem(), other)).to.equal(
      '.spec.type: Forbidden: type is immutable; to use another deployer, give the deploy item another name in its blueprint',
    );
    expect(changeRefusal('deployitems', other, other)).to.equal(undefined);
    expect(changeRefusal('targets', target('t', { type: 'a' }), target('t', { type: 'b' }))).to.equal(
      undefined,
    );
  });
});

const startingWith = (text: string): RegExp => new RegExp(`^${text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`);

describe('an error message', () => {
  const execution = (deployItems: readonly object[], more: object = {}) =>
    admissionRefusal('executions', plan([], { deployItems, ...more }));
  const many = <T>(count: number, make: (i: number) => T): T[] =>
    Array.from({ length: count }, (_, i) => make(i));

  it('lists up to 20 problems', () => {
    const { message = '' } = execution(many(20, (i) => fakeItem(`i${String(i)}`, { type: '' }))) ?? {};
    expect(message.match(/must not be empty/g)).to.have.length(20);
    expect(message).not.to.contain('Only the first');
  });

  it('lists 20 of many problems, and says so', () => {
    const { kind, message = '' } =
      execution(many(1000, (i) => fakeItem(`i${String(i)}`, { type: '' }))) ?? {};
    expect(kind).to.equal('wrong');
    expect(message.match(/must not be empty/g)).to.have.length(20);
    expect(message).to.match(/\]\nOnly the first 20 findings are listed\.$/);
  });

  it('lists 20 of many fields that cannot be read, and says so', () => {
    const { kind, message = '' } = execution(many(1000, () => ({}))) ?? {};
    expect(kind).to.equal('unreadable');
    expect(message.match(/Invalid value/g)).to.have.length(20);
  });

  it('has at most 8 KiB, and keeps its end', () => {
    const long = 'x'.repeat(5000);
    const { message = '' } =
      execution(many(30, (i) => fakeItem(`i${String(i)}`, { dependsOn: [`${long}${String(i)}`] }))) ?? {};
    expect(Buffer.byteLength(message)).to.be.at.most(8192);
    expect(message).to.match(/…\nOnly the first 20 findings are listed\.$/);
  });

  it('shortens long strings in a problem, so that thousands of problems do not fill the memory', () => {
    const item = fakeItem('x'.repeat(50_000), { dependsOn: many(5000, (i) => `a${String(i)}`) });
    const before = process.memoryUsage().heapUsed;
    const { message = '' } = execution([item]) ?? {};
    expect((process.memoryUsage().heapUsed - before) / 2 ** 20).to.be.below(100);
    expect(message).to.contain('depends on undefined deploy item').and.not.to.contain('x'.repeat(600));
    expect(message).to.match(/\nOnly the first 20 findings are listed\.$/);
  });

  it('names 20 of thousands of cycles that share their items', () => {
    const names = many(3000, (i) => ({ name: `i${String(i)}` }));
    const all = names.map(({ name }) => name);
    const items = names.map(({ name }, i) =>
      fakeItem(name, { dependsOn: i === 2999 ? all : [`i${String(i + 1)}`] }),
    );
    expect(execution(items)?.message).to.match(/\nOnly the first 20 findings are listed\.$/);
  });

  it('counts uncompressed items before it reads them', () => {
    expect(execution(many(10_001, () => ({ name: 1 })))).to.deep.equal({
      kind: 'unreadable',
      message:
        'spec.deployItems cannot be read: it holds 10001 deploy items; the limit is 10000 for one execution: divide them among sub-installations, or raise limits.deployItems in the configuration',
    });
  });

  it('is the same for compressed items, also in a job that skips the rules', () => {
    const deployItemsCompressed = gzipSync(`[${Array(10_001).fill('{}').join(',')}]`).toString('base64');
    const object = plan([], { deployItems: undefined, deployItemsCompressed });
    const sentence =
      'spec.deployItemsCompressed cannot be read: it holds 10001 deploy items; the limit is 10000 for one execution: divide them among sub-installations, or raise limits.deployItems in the configuration';
    const spared = {
      ...object,
      metadata: { ...object.metadata, labels: { [labels.skipValidation]: 'true' } },
    };
    expect(admissionRefusal('executions', object)?.message).to.equal(sentence);
    expect(refusalForJob('executions', spared)).to.equal(sentence);
  });
});
