import { expect } from 'chai';
import { textOf, type LogLine } from '../../../src/observability/log-text.ts';

const line = (more: object = {}): LogLine => ({
  level: 'info',
  time: '2026-11-26T13:00:35.251Z',
  msg: 'job finished',
  ...more,
});

const about = (kind: string, name: string, more: object = {}): LogLine =>
  line({
    controller: kind.toLowerCase(),
    reconcileID: '102476974bcc2117',
    'resource.apiVersion': 'landscaper.gardener.cloud/v1alpha1',
    'resource.kind': kind,
    'resource.namespace': 'shop',
    'resource.name': name,
    'resource.uid': 'f397cc86-0001-4d7d-a3fd-413ac3bdca1c',
    'resource.resourceVersion': '97',
    'resource.generation': 1,
    tree: 'shop/web',
    jobID: '8f527d72-acd7-42e2-bbd3-386bcea010e7',
    ...more,
  });

describe('the text of a log line', () => {
  const start = '13:00:35.251 info ';
  const rows: readonly (readonly [string, LogLine, string])[] = [
    ['is the message if there are no fields', line(), `${start} job finished`],
    ['has the fields', line({ a: 1, b: ['x'], c: 'y' }), `${start} job finished  a=1 b=["x"] c=y`],
    [
      'has the object, the tree, the job and the fields',
      about('Execution', 'db', { phase: 'Succeeded' }),
      `${start} Execution shop/db  job finished  tree=shop/web job=8f527d72 phase=Succeeded`,
    ],
    [
      'has no tree if the object is the root',
      about('Installation', 'web'),
      `${start} Installation shop/web  job finished  job=8f527d72`,
    ],
    [
      'has the tree of another object with the name of the root',
      about('Execution', 'web', { jobID: undefined }),
      `${start} Execution shop/web  job finished  tree=shop/web`,
    ],
    [
      'has the controller if it is not that of the kind',
      about('DeployItem', 'db', { controller: 'helm', tree: undefined, jobID: undefined }),
      `${start} DeployItem shop/db (helm)  job finished`,
    ],
    [
      'has a cluster-scoped object without a namespace',
      about('Namespace', 'shop', { 'resource.namespace': undefined, tree: undefined, jobID: undefined }),
      `${start} Namespace shop  job finished`,
    ],
    [
      'has the controller as a field if there is no object',
      line({ controller: 'helm' }),
      `${start} job finished  controller=helm`,
    ],
    ['quotes values with spaces', line({ why: 'two words' }), `${start} job finished  why="two words"`],
    ['quotes empty values', line({ why: '' }), `${start} job finished  why=""`],
    [
      'has the message of an error',
      line({ err: { type: 'Error', message: 'no "x"', stack: 'Error: no\n    at a (b.ts:1:1)' } }),
      `${start} job finished  err="no \\"x\\""`,
    ],
    [
      'keeps line breaks and escape sequences from the terminal',
      line({ msg: 'a\u001b[31m', err: 'b\nc \u009b2J\u202e' }),
      `${start} a\\u001b[31m  err="b\\nc \\u009b2J\\u202e"`,
    ],
  ];
  for (const [title, given, text] of rows)
    it(title, () => {
      const fields = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
      expect(textOf(fields)).to.equal(text);
    });

  it('shortens long values, but not errors', () => {
    const long = 'x'.repeat(1000);
    expect(textOf(line({ diff: long })))
      .to.have.length.below(300)
      .and.contain(' … ');
    expect(textOf(line({ err: long }))).to.contain(long);
  });

  it('has the date on request', () => {
    expect(textOf(line(), { hasDate: true })).to.equal('2026-11-26 13:00:35.251 info  job finished');
  });

  it('does not repeat a tree that the reader knows', () => {
    const text = textOf(about('Execution', 'db'), { tree: 'shop/web' });
    expect(text).to.equal(`${start} Execution shop/db  job finished  job=8f527d72`);
  });

  it('has the stack of an error on request', () => {
    const err = {
      type: 'Error',
      message: 'no',
      stack: 'Error: no\n    at a (b.ts:1:1)\n    at c (d.ts:2:2)',
    };
    const text = textOf(line({ err }), { hasStacks: true });
    expect(text).to.equal(`${start} job finished  err=no\n    at a (b.ts:1:1)\n    at c (d.ts:2:2)`);
    const mistake = { ...err, type: 'ProgrammingError' };
    expect(textOf(line({ err: mistake }))).to.equal(text);
    expect(textOf(line({ err }))).not.to.include('at a');
  });
});
