/** Pods of objects on targets: which belong to an object, what is shown of them, and pieces of logs. */
import { expect } from 'chai';
import { linesIn, MAX_LOG_BYTES } from '../../../src/cli/console/pods/read-log.ts';
import { podRowOf } from '../../../src/cli/console/pods/rows.ts';
import {
  isPodOf,
  isReplicaSetOf,
  selectorOf,
  workloadKind,
} from '../../../src/cli/console/pods/workloads.ts';
import type { LogLines } from '../../../src/cli/console/wire.ts';
import type { Obj } from '../../../src/runtime/types.ts';
import { appendedLog, emptyLog, MAX_LINES, plainLine } from '../../../web/console/log-lines.ts';
import { objectOf, pod, SECRET } from './given-pods.ts';

describe('the pods of an object', () => {
  const cases: readonly (readonly [
    title: string,
    kind: string,
    owner: [string, string] | undefined,
    is: boolean,
  ])[] = [
    ['of a ReplicaSet of the Deployment', 'Deployment', ['ReplicaSet', 'web-abc'], true],
    [
      'of a ReplicaSet of a Deployment with a longer name',
      'Deployment',
      ['ReplicaSet', 'web-api-abc'],
      false,
    ],
    ['of an old template, with its own hash', 'Deployment', ['ReplicaSet', 'web-def'], false],
    ['of the StatefulSet', 'StatefulSet', ['StatefulSet', 'web'], true],
    ['of another kind with the same name', 'StatefulSet', ['DaemonSet', 'web'], false],
    ['of the Job', 'Job', ['Job', 'web'], true],
    ['without an owner', 'DaemonSet', undefined, false],
    ['that is the object', 'Pod', undefined, true],
  ];
  for (const [title, kind, owner, is] of cases)
    it(`${is ? 'include' : 'do not include'} a pod ${title}`, () => {
      const found = pod(kind === 'Pod' ? 'web' : 'web-1', owner);
      expect(isPodOf(objectOf(kind), found)).to.equal(is);
    });

  it('exist only for kinds of Kubernetes itself', () => {
    expect(workloadKind({ apiVersion: 'apps/v1', kind: 'Deployment' })?.plural).to.equal('deployments');
    expect(workloadKind({ apiVersion: 'v1', kind: 'Pod' })?.plural).to.equal('pods');
    expect(workloadKind({ apiVersion: 'example.org/v1', kind: 'Deployment' })).to.equal(undefined);
    expect(workloadKind({ apiVersion: 'v1', kind: 'Secret' })).to.equal(undefined);
  });

  it('are requested by all terms of the selector', () => {
    const selector = {
      matchLabels: { app: 'web', tier: 'a' },
      matchExpressions: [
        { key: 'zone', operator: 'In', values: ['x', 'y'] },
        { key: 'old', operator: 'NotIn', values: ['1'] },
        { key: 'ready', operator: 'Exists' },
        { key: 'gone', operator: 'DoesNotExist' },
      ],
    };
    const withSelector = (one: unknown) =>
      ({ metadata: { name: 'web' }, spec: { selector: one } }) as unknown as Obj;
    expect(selectorOf(withSelector(selector))).to.equal(
      'app=web,tier=a,zone in (x,y),old notin (1),ready,!gone',
    );
    expect(selectorOf(withSelector({}))).to.equal(undefined);
    expect(selectorOf(withSelector({ matchExpressions: [{ key: 'a', operator: 'Gt' }] }))).to.equal(
      undefined,
    );
  });

  it('come with events of ReplicaSets that cannot create them', () => {
    const is = (name: string, kind = 'ReplicaSet') => isReplicaSetOf(objectOf('Deployment'), { kind, name });
    expect(is('web-5d4f')).to.equal(true);
    expect(is('web-api-5d4f')).to.equal(false);
    expect(is('web')).to.equal(false);
    expect(is('web-5d4f', 'Pod')).to.equal(false);
  });

  it('are shown with the word of kubectl and the reason, without environments', () => {
    const failing = pod('web-1', ['ReplicaSet', 'web-abc'], {
      status: {
        phase: 'Running',
        containerStatuses: [
          {
            name: 'server',
            ready: false,
            restartCount: 4,
            state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s' } },
            lastState: { terminated: { reason: 'OOMKilled', exitCode: 137 } },
          },
        ],
      },
    });
    const row = podRowOf(failing);
    expect(row).to.include({
      status: 'CrashLoopBackOff',
      isHealthy: false,
      ready: '0/1',
      restarts: 4,
      message: 'back-off 40s',
      node: 'node-1',
    });
    expect(row.containers[0]).to.deep.include({
      state: 'waiting',
      reason: 'CrashLoopBackOff',
      lastEnd: 'OOMKilled, exit code 137',
      hasStarted: true,
    });
    expect(JSON.stringify(row)).not.to.contain(SECRET);
    expect(podRowOf(pod('web-2', undefined)).isHealthy).to.equal(true);
  });

  it('say why they are not scheduled', () => {
    const conditions = [{ type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' }];
    const row = podRowOf(pod('web-1', undefined, { status: { phase: 'Pending', conditions } }));
    expect(row).to.include({ status: 'Pending', isHealthy: false, message: '0/3 nodes are available' });
    expect(row.containers[0]).to.include({ state: 'waiting', hasStarted: false });
  });
});

describe('a piece of a log', () => {
  const at = (second: number, text: string): string => `2026-01-01T00:00:0${String(second)}.5Z ${text}`;

  it('has lines without stamps, and the stamp of the last one', () => {
    expect(linesIn(`${at(1, 'a')}\n${at(2, 'b c')}\n`, '')).to.deep.equal({
      lines: ['a', 'b c'],
      last: '2026-01-01T00:00:02.5Z',
      isCut: false,
      hasGap: false,
    });
  });

  it('has only lines after a stamp, and keeps the stamp if there are none', () => {
    const [first, second] = [at(1, 'a'), at(1, 'a')];
    expect(linesIn(`${first}\n${at(2, 'b')}\n`, '2026-01-01T00:00:01.5Z').lines).to.deep.equal(['b']);
    expect(linesIn(second, '2026-01-01T00:00:01.5Z')).to.include({ last: '2026-01-01T00:00:01.5Z' });
    expect(linesIn('', '')).to.include({ last: '', isCut: false });
  });

  it('leaves out a last line that the limit cuts, unless it is the only one', () => {
    const long = 'x'.repeat(MAX_LOG_BYTES);
    const cut = linesIn(`${at(1, 'a')}\n${at(2, long)}`.slice(0, MAX_LOG_BYTES), '');
    expect(cut).to.deep.include({ lines: ['a'], last: '2026-01-01T00:00:01.5Z', isCut: true });
    expect(linesIn(at(1, long).slice(0, MAX_LOG_BYTES), '').lines).to.have.length(1);
  });

  it('is appended on the page, without colours, up to a limit', () => {
    const answer = (lines: readonly string[], hasGap = false): LogLines => ({
      lines,
      last: '',
      isCut: false,
      hasGap,
    });
    const first = appendedLog(emptyLog, answer(['\u001b[31mred\u001b[0m', 'b']));
    expect(first).to.deep.equal({ lines: ['red', 'b'], omitted: false });
    expect(appendedLog(first, answer([])).lines).to.equal(first.lines);
    expect(appendedLog(first, answer(['c'], true)).lines).to.deep.equal(['red', 'b', '…', 'c']);
    const many = appendedLog(first, answer(Array.from({ length: MAX_LINES }, (_, i) => String(i))));
    expect(many.omitted).to.equal(true);
    expect(many.lines).to.have.length(MAX_LINES);
    expect(many.lines[0]).to.equal('0');
    expect(appendedLog(many, answer(['x'])).omitted).to.equal(true);
    expect(appendedLog(first, answer([], true)).lines).to.deep.equal(['red', 'b', '…']);
    const exactly = answer(Array.from({ length: MAX_LINES - 2 }, (_, i) => String(i)));
    expect(appendedLog(first, exactly)).to.deep.include({ omitted: false });
    const afterMany = { ...emptyLog, omitted: true };
    expect(appendedLog(afterMany, answer(['x'])).omitted).to.equal(true);
    expect(plainLine('\u001b[1;32m✔\u001b[K done')).to.equal('✔ done');
  });
});
