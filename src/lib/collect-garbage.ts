/** A collection of garbage on request: the engine collects when much is allocated, so an idle process keeps its garbage. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { readonly type: 'major'; readonly execution: 'async' }) => Promise<void>;

let collect: Collect | undefined;

/** Returns memory to the operating system after much of it has been released. Takes a few milliseconds in its own task. */
export function collectGarbage(): Promise<void> {
  if (!collect) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Collect;
  }
  return collect({ type: 'major', execution: 'async' });
}
