/**
 * CORE-101: items that need no uninstall after their shoot cluster was deleted: how the shoot is determined, and
 * where.
 */
import { expect } from 'chai';
import { executionController } from '../../../controllers/execution/index.ts';
import { deployItemKind, type DeployItem } from '../../../src/api/kinds/deployitem.ts';
import { executionKind, type DeployItemTemplate, type Execution } from '../../../src/api/kinds/execution.ts';
import { targetKind } from '../../../src/api/kinds/target.ts';
import { targetSyncKind } from '../../../src/api/kinds/targetsync.ts';
import { annotations, labels } from '../../../src/api/labels.ts';
import { shootKind } from '../../../src/landscape/source-cluster.ts';
import { namespaceKind, secretKind } from '../../../src/landscape/world.ts';
import { apiErrorFrom, KubeconfigError } from '../../../src/runtime/errors.ts';
import type { Client } from '../../../src/runtime/types.ts';
import { deleting, done, execution, item, running, template } from '../../support/given.ts';
import { portsOf } from './support/execution.ts';
import { Server, stage, type Stage } from './support/stage.ts';

const kubeconfig = (server: string, user: object = {}): string =>
  JSON.stringify({
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
    'current-context': 'x',
  });
const SHOOT_S1 = kubeconfig('https://api.s1.garden.example');
const skip = { onDelete: { skipUninstallIfClusterRemoved: true } };
const to = (name: string) => ({ target: { name, namespace: 'demo' } });

/** The cluster that has the shoots. */
class Garden extends Server {
  override raw(): Promise<unknown> {
    return Promise.resolve({ resources: [{ name: 'shoots' }] });
  }
}

describe('the shoot cluster of a deploy item', () => {
  let on: Stage;
  let garden: Garden;
  let open: () => Promise<Client>;
  const opened: string[] = [];
  beforeEach(() => {
    opened.length = 0;
    garden = new Garden();
    garden.put(namespaceKind, { metadata: { name: 'clusters' } });
    open = () => Promise.resolve(garden);
    const sources = {
      open: (text: string) => {
        opened.push(text);
        return open();
      },
      close: () => Promise.resolve(),
    };
    on = stage((ports) => executionController(portsOf(ports, undefined, { sources, remoteRetryMs: 30_000 })));
  });
  afterEach(() => on.end());

  const secret = (name: string, text: string, namespace = 'demo') =>
    on.client.put(secretKind, {
      metadata: { name, namespace },
      data: { kubeconfig: Buffer.from(text).toString('base64') },
    });
  const status = (): NonNullable<Execution['status']> =>
    on.client.read(executionKind, 'demo/plan')?.status ?? {};

  describe('is recorded when the item is created', () => {
    const target = (spec: object, sync = 'ok', namespace = 'demo') =>
      on.client.put(targetKind, {
        metadata: { name: 'prod', namespace, labels: { [labels.targetSync]: sync } },
        spec: { type: 'x', ...spec },
      });
    const reference = { secretRef: { name: 'access', key: 'kubeconfig' } };
    /** Creates the item of the template, and returns its annotations. */
    async function noted(of: Partial<DeployItemTemplate>): Promise<string | undefined> {
      on.client.put(
        executionKind,
        execution('plan', { items: [template('a', of)], status: { jobID: 'j1' } }),
      );
      await on.start();
      const [made] = [...on.world.deployItems.list('demo')];
      return made?.metadata.annotations?.[annotations.clusterName];
    }

    it('by the address in the kubeconfig of its target', async () => {
      target(reference);
      secret('access', SHOOT_S1);
      expect(await noted({ ...skip, ...to('prod') })).to.equal('s1');
    });

    const nothing: readonly [string, () => void, Partial<DeployItemTemplate>][] = [
      ['the item does not request it', () => undefined, to('prod')],
      [
        'the item requests something else',
        () => undefined,
        { onDelete: { skipUninstallIfClusterRemoved: false }, ...to('prod') },
      ],
      ['the item has no target', () => undefined, skip],
      ['its target was not created by a TargetSync', () => target({}, 'old'), { ...skip, ...to('prod') }],
    ];
    for (const [title, given, of] of nothing) {
      it(`but not when ${title}`, async () => {
        given();
        expect(await noted(of)).to.equal(undefined);
        expect(status()).to.include({ phase: 'Progressing' });
      });
    }

    const failures: readonly [string, () => void, string][] = [
      ['its target does not exist', () => target(reference, 'ok', 'other'), 'target prod does not exist'],
      ['its target has no secretRef', () => target({}), 'target prod has no secretRef'],
      [
        'the secret does not exist',
        () => {
          target(reference);
          secret('access', SHOOT_S1, 'other');
        },
        'secret access of target prod does not exist',
      ],
      [
        'the secret lacks the key',
        () => {
          target({ secretRef: { name: 'access', key: 'config' } });
          secret('access', SHOOT_S1);
        },
        'secret access of target prod has no key "config"',
      ],
      [
        'the reference names no key',
        () => {
          target({ secretRef: { name: 'access' } });
          secret('access', SHOOT_S1);
        },
        'secret access of target prod has no key ""',
      ],
      [
        'the kubeconfig is invalid',
        () => {
          target(reference);
          secret('access', '{"clusters":[]}');
        },
        '',
      ],
      [
        'the kubeconfig wants to run a command',
        () => {
          target(reference);
          secret('access', kubeconfig('https://api.s1.garden.example', { exec: { command: 'x' } }));
        },
        '',
      ],
      [
        'the cluster is not a shoot',
        () => {
          target(reference);
          secret('access', kubeconfig('https://10.0.0.1'));
        },
        'the server of target prod does not have an address of the form https://api.<shoot>.…',
      ],
    ];
    for (const [title, given, why] of failures) {
      it(`and the job fails before anything is created when ${title}`, async () => {
        given();
        expect(await noted({ ...skip, ...to('prod') })).to.equal(undefined);
        expect(status()).to.include({ phase: 'Failed', jobIDFinished: 'j1' });
        const { operation, reason, message } = status().lastError ?? {};
        expect([operation, reason]).to.deep.equal(['handleReconcilePhase', 'handlePhaseInit']);
        expect(message).to.contain(
          `deploy item a sets skipUninstallIfClusterRemoved, but its cluster is unknown: ${why}`,
        );
        expect([...on.world.deployItems.list('demo')]).to.deep.equal([]);
      });
    }

    it('and is retried if the secret is temporarily not readable', async () => {
      target(reference);
      secret('access', SHOOT_S1);
      const busy = apiErrorFrom(503, { message: 'busy' }, { verb: 'get', kind: 'Secret' });
      on.client.fault = ({ kind }) => (kind === 'Secret' ? busy : undefined);
      await noted({ ...skip, ...to('prod') });
      expect(status().lastError?.reason).to.equal('ReadFailed');
      expect(status()).not.to.have.property('jobIDFinished');
    });
  });

  describe('is checked when the item has to be uninstalled', () => {
    const sync = (name = 'sync', meta: object = {}) =>
      on.client.put(targetSyncKind, {
        metadata: { name, namespace: 'demo', ...meta },
        spec: { sourceNamespace: 'clusters', secretRef: { name: 'source', key: 'kubeconfig' } },
      });
    const shoot = (name: string) => garden.put(shootKind, { metadata: { name, namespace: 'clusters' } });
    const installed = (
      name: string,
      spec: object = { ...skip, ...to('prod') },
      notes: object = {},
      more: object = {},
    ) => {
      const made = item(
        'plan',
        name,
        { ...done('j1'), ...more },
        {
          ...deleting,
          annotations: { [annotations.clusterName]: 's1', ...notes },
        },
      );
      on.client.put(deployItemKind, { ...made, spec: { ...made.spec, ...spec } });
    };
    const stored = (name: string): DeployItem | undefined =>
      on.client.read(deployItemKind, `demo/plan-${name}-x`);
    const jobOf = (name: string): string => {
      const found = stored(name);
      return found ? (found.status?.jobID ?? '') : 'gone';
    };
    async function uninstalling(): Promise<void> {
      const self = { status: running('j2', 'Deleting'), meta: deleting };
      on.client.put(executionKind, execution('plan', { items: [template('a')], ...self }));
      await on.start();
    }
    const ready = () => {
      sync();
      secret('source', 'the way to the garden');
    };

    it('and the item is forgotten if it is gone, others are uninstalled', async () => {
      ready();
      shoot('s2');
      installed('a');
      installed('b', undefined, { [annotations.clusterName]: 's2' });
      installed('c', undefined, { [annotations.clusterName]: 's3' });
      await uninstalling();
      expect(['a', 'b', 'c'].map(jobOf)).to.deep.equal(['gone', 'j2', 'gone']);
      expect(opened).to.deep.equal(['the way to the garden']);
    });

    it('and the item is uninstalled if its target has the address of another cluster than a user wrote to it', async () => {
      ready();
      on.client.put(targetKind, {
        metadata: { name: 'prod', namespace: 'demo', labels: { [labels.targetSync]: 'ok' } },
        spec: { type: 'x', secretRef: { name: 'access', key: 'kubeconfig' } },
      });
      secret('access', kubeconfig('https://api.s9.garden.example'));
      installed('a');
      installed('b', undefined, { [annotations.clusterName]: 's9' });
      await uninstalling();
      expect(['a', 'b'].map(jobOf)).to.deep.equal(['j2', 'gone']);
    });

    it('and the item is uninstalled if objects of it stay on another cluster', async () => {
      ready();
      installed('a', undefined, {}, { leftBehind: [{ cluster: { uid: 'other' }, omitted: 1 }] });
      await uninstalling();
      expect(jobOf('a')).to.equal('j2');
    });

    it('once for all items of the same shoot', async () => {
      ready();
      installed('a');
      installed('b');
      await uninstalling();
      expect(['a', 'b'].map(jobOf)).to.deep.equal(['gone', 'gone']);
      expect(garden.requests.filter(({ kind }) => kind === 'Shoot')).to.have.length(1);
    });

    const quiet: readonly [string, object, object?][] = [
      ['it does not request that', to('prod')],
      ['it declines', { onDelete: { skipUninstallIfClusterRemoved: false }, ...to('prod') }],
      ['it has no target', skip],
      ['its cluster is unknown', { ...skip, ...to('prod') }, { [annotations.clusterName]: null }],
    ];
    for (const [title, spec, notes] of quiet) {
      it(`but not when ${title}: it is uninstalled`, async () => {
        ready();
        installed('a', spec, notes);
        if (notes) on.client.edit(deployItemKind, 'demo/plan-a-x', { metadata: { annotations: null } });
        await uninstalling();
        expect(jobOf('a')).to.equal('j2');
        expect(opened).to.deep.equal([]);
      });
    }

    it('but not if the item is to be forgotten anyway', async () => {
      installed('a', undefined, { [annotations.deleteWithoutUninstall]: 'true' });
      await uninstalling();
      expect(jobOf('a')).to.equal('gone');
    });

    const waits: readonly [string, () => void, object][] = [
      [
        'there is no TargetSync',
        () => undefined,
        { reason: 'fetchTargetSync', message: 'targetsync not found or not unique' },
      ],
      [
        'there are two',
        () => {
          ready();
          sync('other');
        },
        { reason: 'fetchTargetSync', message: 'targetsync not found or not unique' },
      ],
      [
        'the access to the source cluster is missing',
        () => sync(),
        {
          reason: 'fetchShoot',
          message: 'secret demo/source not found; it must contain the kubeconfig of the source cluster',
        },
      ],
      [
        'its kubeconfig is invalid',
        () => {
          ready();
          open = () => Promise.reject(new KubeconfigError({ message: 'no cluster in it' }));
        },
        { reason: 'fetchShoot', message: 'no cluster in it' },
      ],
    ];
    for (const [title, given, error] of waits) {
      it(`and the job waits while ${title}`, async () => {
        on.client.put(namespaceKind, { metadata: { name: 'demo' } });
        on.client.put(namespaceKind, { metadata: { name: 'other', ...deleting } });
        given();
        installed('a');
        await uninstalling();
        expect(jobOf('a')).to.equal('j1');
        expect(status()).to.include({ phase: 'Deleting' }).and.not.have.property('jobIDFinished');
        expect(status().lastError).to.include({ operation: 'skipUninstall', ...error });
      });
    }

    it('with the one TargetSync that is not being deleted', async () => {
      ready();
      sync('leaving', { ...deleting, finalizers: ['x.org/keep'] });
      installed('a');
      await uninstalling();
      expect(jobOf('a')).to.equal('gone');
    });

    it('but not in a namespace that is being deleted: no TargetSync can be created there any more', async () => {
      on.client.put(namespaceKind, { metadata: { name: 'demo', ...deleting } });
      installed('a');
      await uninstalling();
      expect(jobOf('a')).to.equal('j2');
    });

    it('and the job is retried after an unexpected error', async () => {
      ready();
      open = () => Promise.reject(new Error('out of sockets'));
      installed('a');
      await uninstalling();
      expect(status().lastError).to.include({ reason: 'UnexpectedError', message: 'out of sockets' });
    });

    const answering = (code: number, message: string) => {
      const error = apiErrorFrom(code, { message }, { verb: 'get', kind: 'Shoot' });
      garden.fault = ({ kind }) => (kind === 'Shoot' ? error : undefined);
    };

    it('and the job fails if the source cluster rejects the request, as soon as no item is running', async () => {
      ready();
      answering(403, 'not for you');
      installed('a');
      on.client.put(deployItemKind, item('plan', 'b', running('j2', 'Deleting'), deleting));
      await uninstalling();
      expect(status().lastError).to.include({ operation: 'skipUninstall', reason: 'fetchShoot' });
      expect(status().lastError?.message).to.contain('not for you');
      expect(status()).to.include({ phase: 'Deleting' }).and.not.have.property('jobIDFinished');
      const ended = { jobIDFinished: 'j2', phase: 'DeleteFailed' };
      on.client.edit(deployItemKind, 'demo/plan-b-x', { status: ended }, 'status');
      await on.settle();
      expect(status()).to.include({ phase: 'DeleteFailed', jobIDFinished: 'j2' });
    });

    it('and the job is retried while the source cluster does not answer, until the limit', async () => {
      ready();
      answering(503, 'come again');
      installed('a');
      await uninstalling();
      expect(status().lastError).to.include({ operation: 'skipUninstall', reason: 'fetchShoot' });
      expect(status().conditions?.map(({ reason }) => reason)).to.deep.equal(['ServerUnavailable']);
      await on.clock.advance(25_000);
      expect(status()).to.include({ phase: 'Deleting' });
      await on.clock.advance(60_000);
      expect(status()).to.include({ phase: 'DeleteFailed', jobIDFinished: 'j2' });
      expect(status().lastError?.message).to.contain('gave up after 30s');
    });

    it('and other errors are not mistaken for errors of the source cluster', async () => {
      ready();
      garden.fault = ({ kind }) => (kind === 'Shoot' ? new Error('a mistake of ours') : undefined);
      installed('a');
      await uninstalling();
      expect(status().lastError).to.include({ operation: 'reconcile', reason: 'UnexpectedError' });
    });
  });
});
