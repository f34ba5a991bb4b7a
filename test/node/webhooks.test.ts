/** The webhooks behind their Service, while their pods are replaced. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { Client } from '../../src/runtime/types.ts';
import {
  connectClient,
  install,
  kubectl,
  LS_SYSTEM,
  rolledOut,
  uninstall,
  until,
  WEBHOOKS,
  podsOf,
  isReady,
} from './support/cluster.ts';

const TARGETS = '/apis/landscaper.gardener.cloud/v1alpha1/namespaces/default/targets?dryRun=All';
const WRITERS = 4;

/** Creations that the API server validates but does not store, several at a time, until stopped. */
class Load {
  readonly #client: Client;
  readonly #writers: Promise<void>[];
  #isStopped = false;
  accepted = 0;
  readonly refusals: string[] = [];

  constructor(client: Client) {
    this.#client = client;
    this.#writers = Array.from({ length: WRITERS }, () => this.#write());
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#writers);
  }

  async #write(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#client.raw('POST', TARGETS, {
          apiVersion: 'landscaper.gardener.cloud/v1alpha1',
          kind: 'Target',
          metadata: { generateName: 'load-' },
          spec: { type: 'example.org/place' },
        });
        this.accepted++;
      } catch (error) {
        this.refusals.push(`${new Date().toISOString()} ${(error as Error).message}`);
      }
      await pause(10);
    }
  }
}

describe('the webhooks on a node', function () {
  this.timeout(0);
  let client: Client;

  before(async () => {
    client = await connectClient();
    install(['--webhooks']);
    rolledOut('espalier-webhooks');
    await until('the webhooks are registered', 60, () =>
      kubectl('get', 'validatingwebhookconfiguration', 'landscaper-validation-webhook'),
    );
  });
  after(async () => {
    uninstall();
    await client.close();
  });

  it('refuse no write while a rollout replaces their pods', async () => {
    const load = new Load(client);
    kubectl('rollout', 'restart', 'deployment/espalier-webhooks', '-n', LS_SYSTEM);
    rolledOut('espalier-webhooks');
    // until the last of the old pods is gone
    await until('two pods', 60, async () => (await podsOf(client, WEBHOOKS)).length === 2);
    await load.stop();
    expect(load.refusals).to.deep.equal([]);
    expect(load.accepted).to.be.greaterThan(100);
  });

  it('refuse no write while one of their pods is deleted', async () => {
    const [pod] = await podsOf(client, WEBHOOKS);
    const load = new Load(client);
    kubectl('delete', 'pod', pod?.metadata.name ?? '', '-n', LS_SYSTEM);
    rolledOut('espalier-webhooks');
    await until(
      'two ready pods',
      60,
      async () => (await podsOf(client, WEBHOOKS)).filter(isReady).length === 2,
    );
    await load.stop();
    expect(load.refusals).to.deep.equal([]);
  });
});
