import { expect } from 'chai';
import { settingsOf, type ControllerSpec } from '../../../../src/runtime/controller/spec.ts';
import { DefinitionError } from '../../../../src/runtime/errors.ts';
import { inboundSource } from '../../../../src/runtime/sources/inbound.ts';
import { admits } from '../../../../src/runtime/sources/filters.ts';
import type { Kind } from '../../../../src/runtime/types.ts';
import { nothing, widgets, type Widget } from '../support/world.ts';

const reconcile = () => Promise.resolve(nothing);
const cleanup = () => Promise.resolve({ finalizer: 'remove' } as const);
const settings = (spec: Partial<ControllerSpec<Widget>> = {}) =>
  settingsOf<Widget>({ name: 'w', kind: widgets, reconciler: { reconcile }, ...spec });
const global: Kind<Widget> = { ...widgets, namespaced: false };

describe('the settings of a controller', () => {
  it('have defaults', () => {
    const { timing, ...rest } = settings();
    expect(rest).to.deep.include({
      finalizer: { type: 'none' },
      generation: 'memory',
      maxConcurrent: 10,
      fairness: 'namespace',
      fieldManager: 'w',
      ownEvents: 'filter',
    });
    expect([timing.syncMs, timing.syncJitter]).to.deep.equal([36_000_000, 0.1]);
  });

  const rows: readonly (readonly [string, Partial<ControllerSpec<Widget>>, object])[] = [
    ['the number of workers', { maxConcurrent: 1 }, { maxConcurrent: 1 }],
    ['the fairness', { fairness: 'none' }, { fairness: 'none' }],
    ['no fairness without namespaces', { kind: global, fairness: 'namespace' }, { fairness: 'none' }],
    ['the field manager', { fieldManager: 'me' }, { fieldManager: 'me' }],
    ['own events', { ownEvents: 'deliver' }, { ownEvents: 'deliver' }],
    ['generations', { generation: 'off' }, { generation: 'off' }],
    [
      'the default finalizer of a controller that cleans up',
      { reconciler: { reconcile, cleanup } },
      { finalizer: { type: 'runtime', name: 'widgets.example.io/finalizer' } },
    ],
    [
      'another finalizer',
      { reconciler: { reconcile, cleanup }, finalizer: 'x.io/y' },
      { finalizer: { type: 'runtime', name: 'x.io/y' } },
    ],
    [
      'no finalizer',
      { reconciler: { reconcile, cleanup }, finalizer: false },
      { finalizer: { type: 'none' } },
    ],
    [
      'finalizers that the reconciler handles',
      { finalizer: { handledBy: 'reconciler' } },
      { finalizer: { type: 'reconciler' } },
    ],
  ];
  const invalid: readonly (readonly [string, Partial<ControllerSpec<Widget>>])[] = [
    ['freesWorkerAfterMs must be a positive number, not 0', { freesWorkerAfterMs: 0 }],
    ['reconcileTimeoutMs must be a positive number, not NaN', { reconcileTimeoutMs: NaN }],
    ['syncPeriodMs must be a positive number, not NaN', { syncPeriodMs: NaN }],
    ['syncPeriodMs must be a positive number, not -1', { syncPeriodMs: -1 }],
    ['limit.reconciles must be a positive number, not 0', { limit: { reconciles: 0 } }],
    ['limit.perMs must be a positive number, not NaN', { limit: { reconciles: 1, perMs: NaN } }],
  ];
  for (const [message, spec] of invalid)
    it(`are refused: ${message}`, () => {
      expect(() => settings(spec)).to.throw(DefinitionError, `controller w: ${message}`);
    });

  for (const [title, spec, expected] of rows)
    it(`can choose ${title}`, () => {
      expect(settings(spec)).to.deep.include(expected);
    });

  it('can choose the sync period', () => {
    expect(settings({ syncPeriodMs: 0 }).timing.syncMs).to.equal(0);
  });

  const refused: readonly (readonly [string, Partial<ControllerSpec<Widget>>, string])[] = [
    ['no workers', { maxConcurrent: 0 }, 'controller w: maxConcurrent must be at least 1'],
    ['an invalid number of workers', { maxConcurrent: NaN }, 'maxConcurrent must be at least 1'],
    [
      'two sources of a name',
      { sources: [inboundSource('y'), inboundSource('x'), inboundSource('x')] },
      'controller w: two sources are named x',
    ],
    [
      'a finalizer that nothing removes',
      { finalizer: 'x.io/y' },
      'controller w: a finalizer without a cleanup would never be removed',
    ],
    [
      'a wrong finalizer',
      { reconciler: { reconcile, cleanup }, finalizer: 'y' },
      'finalizer "y" is not a name',
    ],
  ];
  for (const [title, spec, message] of refused)
    it(`are refused with ${title}`, () => {
      expect(() => settings(spec)).to.throw(DefinitionError, message);
    });

  describe('cannot keep an observed generation in kinds of Kubernetes', () => {
    const builtIn = [
      '',
      'apps',
      'autoscaling',
      'batch',
      'extensions',
      'policy',
      'networking.k8s.io',
      'storage.k8s.io',
      'rbac.authorization.k8s.io',
      'flowcontrol.apiserver.k8s.io',
      'coordination.k8s.io',
    ];
    const custom = [
      'example.io',
      'k8s.io',
      'networking.k8s.io.example.io',
      'x.networking.k8s.io',
      'gateway.networking.k8s.io',
      'rbacxauthorization.k8s.io',
      'appsx',
      'cluster.x-k8s.io',
    ];
    for (const group of [...builtIn, ...custom])
      it(`${builtIn.includes(group) ? 'refused' : 'allowed'}: ${JSON.stringify(group)}`, () => {
        const choose = (): unknown => settings({ kind: { ...widgets, group }, generation: 'status' });
        if (builtIn.includes(group)) {
          expect(choose).to.throw(
            DefinitionError,
            'controller w: Widget is not a custom resource, so its status cannot hold an observed generation',
          );
        } else expect(choose).not.to.throw();
      });

    it('and need not', () => {
      expect(() => settings({ kind: { ...widgets, group: 'apps' }, generation: 'memory' })).not.to.throw();
    });
  });

  describe('say which changes matter', () => {
    const object = (generation: number, finalizers?: string[]): Widget => ({
      apiVersion: 'example.io/v1',
      kind: 'Widget',
      metadata: { namespace: 'A', name: '1', generation, ...(finalizers && { finalizers }) },
    });
    const same = { type: 'update', old: object(1), obj: object(1), relisted: false } as const;
    const never = { update: () => false };
    const always = { update: () => true };
    const cases: readonly (readonly [string, Partial<ControllerSpec<Widget>>, boolean])[] = [
      ['an update without a new generation does not', {}, false],
      ['it does with generations off', { generation: 'off' }, true],
      ['it does if the finalizer is missing', { reconciler: { reconcile, cleanup } }, true],
      ['a filter cannot let it through', { filter: always }, false],
      ['a filter can if there are no defaults', { defaults: false, filter: always }, true],
      ['it does without defaults and filter', { defaults: false }, true],
      ['a filter can hold it back', { generation: 'off', filter: never }, false],
    ];
    for (const [title, spec, expected] of cases)
      it(title, () => {
        expect(admits(settings(spec).admission, same)).to.equal(expected);
      });
  });
});
