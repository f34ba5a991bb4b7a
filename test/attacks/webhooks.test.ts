/** Objects that are small to send and expensive to validate: the webhooks have a separate process and memory. */
import { expect } from 'chai';
import { API_VERSION } from '../../src/api/labels.ts';
import { executionKind } from '../../src/api/kinds/execution.ts';
import { installationKind } from '../../src/api/kinds/installation.ts';
import { ApiError } from '../../src/runtime/errors.ts';
import type { Kind, Obj } from '../../src/runtime/types.ts';
import { mockItem, root } from '../support/landscape.ts';
import { freePort } from '../support/ports.ts';
import { awakeMs } from './stage/awake.ts';
import { attacks, type Attack, type Scene } from './stage/attack.ts';
import { packedRepeat } from './stage/objects.ts';
import { admit, type LimitedProgram } from './stage/programs.ts';
import { until, type Stage } from './stage/stage.ts';

/** As long as an API server waits for a webhook. */
const PATIENCE_MS = 10_000;
const MAX_DENIAL = 12_000;

const executionWith = (spec: object): Obj & { readonly spec: object } => ({
  apiVersion: API_VERSION,
  kind: 'Execution',
  metadata: { name: 'attack' },
  spec,
});

interface Judged {
  readonly kind: Kind;
  readonly object: Obj;
  readonly says: RegExp;
}

/** One process for all attacks: requests of all users fail while no webhook answers. */
let serving: { readonly stage: Stage; readonly webhooks: LimitedProgram } | undefined;

async function stopServing(): Promise<void> {
  await serving?.webhooks.program.stop();
  serving?.webhooks.memory.release();
  serving = undefined;
}
after(stopServing);

async function ensureServing(scene: Scene): Promise<void> {
  if (serving?.stage === scene.stage) return;
  await stopServing();
  serving = { stage: scene.stage, webhooks: await served(scene) };
}

/** Sends an object that has to be denied in time, with a short message, by a process that survives. */
function denied(title: string, judged: () => Judged): Attack {
  let answer = '';
  return {
    title,
    prepare: ensureServing,
    async launch(scene) {
      if (!serving) throw new Error('the webhooks do not run');
      const { program, memory } = serving.webhooks;
      memory.takePeak();
      const { kind, object, says } = judged();
      const start = performance.now();
      const denial = await scene.create(kind, object).then(
        () => undefined,
        (error: unknown) => error,
      );
      const ms = performance.now() - start;
      expect(denial, 'the denial').to.be.instanceOf(ApiError);
      const { message } = denial as ApiError;
      expect(message).to.match(says);
      expect(message.length).to.be.below(MAX_DENIAL);
      expect(ms).to.be.below(PATIENCE_MS);
      expect(program.end).to.equal(undefined);
      const peak = memory.takePeak();
      expect(peak).to.be.below(memory.bytes);
      answer = `denied after ${(ms / 1000).toFixed(1)} s, with ${String(Math.round(peak / 2 ** 20))} MiB of ${String(memory.bytes / 2 ** 20)}: ${message.slice(0, 200)}`;
      return [];
    },
    after: () => Promise.resolve(answer),
  };
}

/** Maximum time that another user may have to wait for a verdict while an attacker has many large lists validated. */
const WAIT_MS = PATIENCE_MS / 2;

function crowd(title: string, count: number, attacker: () => Obj): Attack {
  let slowest = 0;
  return {
    title,
    prepare: ensureServing,
    async launch(scene) {
      const { client, namespace, stage } = scene;
      await stage.namespace(`${namespace}-other`);
      const path = (of: string): string => `/apis/${API_VERSION}/namespaces/${of}/executions?dryRun=All`;
      const object = attacker();
      const all = Promise.allSettled(
        Array.from({ length: count }, () => client.raw('POST', path(namespace), object)),
      );
      let isOver = false;
      void all.then(() => (isOver = true));
      slowest = 0;
      do {
        const start = awakeMs();
        const other = executionWith({ deployItems: [mockItem('a')] });
        await client.raw('POST', path(`${namespace}-other`), other);
        slowest = Math.max(slowest, awakeMs() - start);
      } while (!isOver);
      expect(slowest).to.be.below(WAIT_MS);
      expect(serving?.webhooks.program.end).to.equal(undefined);
      return [];
    },
    after: () => Promise.resolve(`the other namespace waited at most ${(slowest / 1000).toFixed(1)} s`),
  };
}

/** The webhooks, after the API server has started to call them. */
async function served({ stage, client, namespace }: Scene): Promise<LimitedProgram> {
  const webhooks = admit({ kubeconfig: stage.kubeconfig, port: await freePort(), folder: stage.folder });
  const wrong = {
    ...executionWith({ deployItems: [mockItem('same'), mockItem('same')] }),
    metadata: { name: 'probe', namespace },
  };
  let last = '';
  const judge = async (): Promise<true | undefined> => {
    if (webhooks.program.end !== undefined) throw new Error(webhooks.program.lines.join('\n'));
    const path = `/apis/${API_VERSION}/namespaces/${namespace}/executions?dryRun=All`;
    last = await client.raw('POST', path, wrong).then(
      () => 'accepted',
      (error: unknown) => (error instanceof Error ? error.message : ''),
    );
    return last.includes('denied the request') || undefined;
  };
  await until('the webhooks judge', judge, { patienceMs: 30_000 }).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${last}; ${webhooks.program.lines.slice(-3).join('\n')}`, {
      cause: error,
    });
  });
  return webhooks;
}

attacks({
  title: 'webhooks',
  attacks: [
    denied('compressed deploy items that unpack to 1.5 million', () => ({
      kind: executionKind,
      object: executionWith({
        deployItemsCompressed: packedRepeat(
          '[',
          '{"name":"a","type":"t","config":{"apiVersion":"a","kind":"b"}},',
          1_500_000,
          '{}]',
        ),
      }),
      says: /16 MiB/,
    })),
    denied('compressed deploy items of 16 MiB that are empty', () => ({
      kind: executionKind,
      object: executionWith({ deployItemsCompressed: packedRepeat('[', '{},', 5_500_000, '{}]') }),
      says: /1000000 values/,
    })),
    denied('5,000 deploy items that are all wrong', () => ({
      kind: executionKind,
      object: executionWith({
        deployItems: Array.from({ length: 5_000 }, (_, i) =>
          mockItem(`a${String(i)}`, {}, { dependsOn: ['b'] }),
        ),
      }),
      says: /first 20 findings/,
    })),
    crowd('20 lists of compressed deploy items of 14 MiB at once', 20, () =>
      executionWith({
        deployItemsCompressed: packedRepeat(
          '[',
          `{"name":"a","type":"t","config":{"apiVersion":"a","kind":"b","list":[${'{"a":[]},'.repeat(40)}1]}},`,
          9_000,
          '{"name":"b","type":"t","config":{"apiVersion":"a","kind":"b"}}]',
        ),
      }),
    ),
    denied('20,000 imports that are all wrong', () => {
      const names = Array.from({ length: 20_000 }, (_, i) => ({ name: `a${String(i >> 1)}`, dataRef: 'a' }));
      return {
        kind: installationKind,
        object: root('attack', { spec: { imports: { data: names } } }),
        says: /first 20 findings/,
      };
    }),
  ],
});
