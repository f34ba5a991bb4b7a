/** The Events that the controllers have written. */
import { eventKind, type CoreEvent } from '../../src/runtime/controller/recorder.ts';
import type { Scene } from './scene.ts';

/** `Warning Reason: message` of each Event about an object of this name, once there is one with `reason`. */
export async function eventsOf(scene: Scene, name: string, reason: string): Promise<readonly string[]> {
  const found: CoreEvent[] = [];
  await scene.until(`there is an Event ${reason} about ${name}`, async () => {
    found.length = 0;
    for await (const { items } of scene.cluster.client.list(eventKind, { namespace: scene.ns }))
      found.push(
        ...items.filter(({ involvedObject }) => (involvedObject as { readonly name?: string }).name === name),
      );
    return found.some((event) => event.reason === reason);
  });
  return found.map((event) => `${event.type} ${event.reason}: ${event.message}`);
}
