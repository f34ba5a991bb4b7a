/** What `espalier apply` concludes from the answers of the API server. */
import { expect } from 'chai';
import type { Installation } from '../../../../src/api/kinds/installation.ts';
import { installationKind } from '../../../../src/api/landscaper-kinds.ts';
import type { PlannedObject } from '../../../../src/cli/commands/apply/resolve.ts';
import { appliedRoots, hasEnded, leftOf, watchCommand } from '../../../../src/cli/commands/apply/wait.ts';
import { selfCommand } from '../../../../src/cli/self-command.ts';
import { refusalText } from '../../../../src/cli/commands/apply/write.ts';
import { apiErrorFrom } from '../../../../src/runtime/errors.ts';
import { collected, installation } from '../given.ts';
import { treesOf } from '../../../../src/cli/tree/tree.ts';

const planned = (object: Installation): PlannedObject => ({
  document: { file: 'web.yaml', position: 2, object },
  kind: installationKind,
  key: 'proj/web',
  object,
  isDeferred: false,
});
const withMeta = (object: Installation, metadata: object): Installation => ({
  ...object,
  metadata: { ...object.metadata, ...metadata },
});
const annotated = (key: string, value: string, generation = 2): Installation =>
  withMeta(installation('web'), { generation, annotations: { [`landscaper.gardener.cloud/${key}`]: value } });

describe('a root has a job to wait for', () => {
  const done = withMeta(installation('web', { phase: 'Succeeded' }), { generation: 2 });
  const cases: readonly (readonly [
    title: string,
    before: Installation | undefined,
    after: Installation,
    boolean,
  ])[] = [
    ['it is created with a request', undefined, annotated('operation', 'reconcile'), true],
    ['it is created without a request', undefined, installation('web'), false],
    ['it is unchanged', done, done, false],
    ['it is changed without a request', done, withMeta(done, { generation: 3 }), false],
    ['a request is added', done, annotated('operation', 'reconcile'), true],
    ['it starts after each change', done, annotated('reconcile-if-changed', 'true', 3), true],
    ['it starts after each change, and has none', done, annotated('reconcile-if-changed', 'true'), false],
    ['a job is running', installation('web', { phase: 'Progressing' }), done, true],
  ];
  for (const [title, before, after, expected] of cases)
    it(`if ${title}: ${String(expected)}`, () => {
      const [root] = appliedRoots([{ planned: planned(after), outcome: 'configured', before, after }]);
      expect(root?.hasJob).to.equal(expected);
    });

  it('after an earlier one, if that is still running', () => {
    const after = annotated('operation', 'reconcile');
    const busy = (before: Installation): boolean | undefined =>
      appliedRoots([{ planned: planned(after), outcome: 'configured', before, after }])[0]?.isBusy;
    expect(busy(installation('web', { phase: 'Progressing' }))).to.equal(true);
    expect(busy(done)).to.equal(false);
  });

  it('only if it is a root', () => {
    const child = installation('web', { parent: 'app' });
    const applied = { planned: planned(child), outcome: 'created', before: undefined, after: child } as const;
    expect(appliedRoots([applied])).to.deep.equal([]);
  });
});

describe('the roots that are left after the timeout', () => {
  const before = {};
  const nodes = treesOf(
    collected(installation('web', { phase: 'Progressing' }), installation('db', { phase: 'Succeeded' })),
  );
  const self = `${selfCommand()} installations inspect`;

  it('are those whose jobs have not ended, and those that the cluster has not shown', () => {
    const awaited = new Map(['proj/web', 'proj/db', 'proj/late'].map((key) => [key, { before }]));
    expect(leftOf(nodes, awaited)).to.deep.equal(['proj/web', 'proj/late']);
  });

  const commands: readonly (readonly [readonly string[], string])[] = [
    [['proj/web'], `${self} web -n proj --watch`],
    [['proj/web', 'proj/db'], `${self} -n proj --watch`],
    [['proj/web', 'other/db'], `${self} -A --watch`],
  ];
  for (const [keys, command] of commands)
    it(`are shown by a command for ${keys.join(' and ')}`, () => {
      expect(watchCommand(keys)).to.equal(command);
    });
});

describe('there is nothing left to wait for', () => {
  const before = { status: { jobID: 'r0', jobIDFinished: 'r0' } } as unknown as Pick<Installation, 'status'>;
  const over = (now: Installation, awaited: readonly string[] = ['proj/web']): boolean => {
    const [node] = treesOf(collected(now));
    return node !== undefined && hasEnded(node, new Map(awaited.map((key) => [key, { before }])));
  };
  const withStatus = (now: Installation, more: object): Installation => ({
    ...now,
    status: { ...now.status, ...more } as NonNullable<Installation['status']>,
  });
  const done = installation('web', { phase: 'Succeeded', job: 'r1' });
  const successors = { dependentsToTrigger: [{ name: 'shop' }] };
  const rows: readonly (readonly [title: string, expected: boolean, now: Installation])[] = [
    ['the job has ended', true, done],
    ['the job has failed', true, installation('web', { phase: 'Failed', job: 'r1' })],
    ['the job is running', false, installation('web', { phase: 'Progressing', job: 'r1' })],
    ['only the earlier job has ended', false, installation('web', { phase: 'Succeeded', job: 'r0' })],
    ['it still has to start the roots that import from it', false, withStatus(done, successors)],
    ['it has started them', true, withStatus(done, { dependentsToTrigger: [] })],
    ['another job is requested', false, { ...done, metadata: annotated('operation', 'reconcile').metadata }],
  ];
  for (const [title, expected, now] of rows)
    it(`if ${title}: ${String(expected)}`, () => {
      expect(over(now)).to.equal(expected);
    });

  it('for a root that got no job from this apply', () => {
    expect(over(installation('web', { phase: 'Progressing', job: 'r1' }), [])).to.equal(true);
  });
});

describe('a refused object', () => {
  const ref = { verb: 'apply', kind: 'Installation', namespace: 'proj', name: 'web' };
  const refused = (status: number, details: object): string =>
    refusalText(
      planned(installation('web')),
      apiErrorFrom(status, { reason: 'X', message: 'no', details }, ref),
    );

  it('names the fields and their managers, and the way out', () => {
    const causes = [
      { reason: 'FieldManagerConflict', message: 'conflict with "kubectl" using v1', field: '.spec.a' },
      { reason: 'FieldManagerConflict', message: 'conflict with "helm"', field: '.spec.b' },
    ];
    expect(refused(409, { causes })).to.equal(
      'web.yaml, document 2 (installation/web): .spec.a is managed by "kubectl" using v1, .spec.b is managed by "helm"; ' +
        'remove these fields from the file, or take them over with --force-conflicts',
    );
  });

  it('has the message of the API server otherwise', () => {
    expect(refused(422, {})).to.equal(
      'web.yaml, document 2 (installation/web): cannot apply Installation proj/web: no',
    );
  });
});
