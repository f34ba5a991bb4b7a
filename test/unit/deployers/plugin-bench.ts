/** A bench with a plug-in whose answers the test gives, and what the SDK asked of it and logged. */
import { passthrough } from '../../../deployers/sdk/codec.ts';
import { done, type DeployContext, type DeployerPlugin, type Outcome } from '../../../deployers/sdk/index.ts';
import type { Logger } from '../../../src/observability/log.ts';
import { Bench, type BenchOptions, type ItemOptions } from './bench.ts';

export const TYPE = 'example.org/worker';
export const NAME = 'worker.example.org';

/** @param call from 1, counted for `apply` and `remove` together */
export type Answer = (ctx: DeployContext, call: number) => Outcome | Promise<Outcome>;

interface Given {
  readonly apply?: Answer;
  readonly remove?: Answer;
  readonly plugin?: Partial<DeployerPlugin>;
  readonly options?: BenchOptions;
  readonly item?: ItemOptions;
  readonly config?: object;
}

export class PluginBench extends Bench {
  /** `apply` or `remove`, and the milliseconds since the start at which it was called. */
  readonly calls: (readonly ['apply' | 'remove', number])[] = [];

  get times(): number[] {
    return this.calls.map(([, at]) => at);
  }

  get directions(): string[] {
    return this.calls.map(([direction]) => direction);
  }
}

/** The item has no target, and a timeout of an hour, unless `item` says otherwise. */
export function givenPlugin(given: Given = {}): PluginBench {
  const plugin = pluginOf(given, () => b);
  const b: PluginBench = new PluginBench(plugin, given.options);
  b.giveItem(given.config ?? {}, { type: TYPE, target: null, timeout: '1h', ...given.item });
  return b;
}

/** The same plug-in for another process. */
export function pluginOf({ apply, remove, plugin }: Given, bench: () => PluginBench): DeployerPlugin {
  const asked = (direction: 'apply' | 'remove', answer: Answer) => async (ctx: DeployContext) => {
    const { calls, clock } = bench();
    calls.push([direction, clock.now()]);
    return answer(ctx, calls.length);
  };
  return {
    type: TYPE,
    name: NAME,
    version: '1',
    config: passthrough,
    apply: asked('apply', apply ?? (() => done())),
    remove: asked('remove', remove ?? (() => done())),
    ...plugin,
  };
}

interface Line {
  readonly level: string;
  readonly message: string;
  readonly fields: object;
}

/** A logger that keeps its lines. */
export function loggerInto(lines: Line[]): Logger {
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, message, fields });
  const logger: Logger = {
    trace: at('trace'),
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: () => logger,
  };
  return logger;
}
