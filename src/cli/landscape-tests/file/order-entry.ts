/** An entry of `order`: the path of a node and what happens to it, such as `shop/database ended`. Pure. */
import { hintFor } from '../../../lib/closest.ts';

const events = ['started', 'ended', 'succeeded', 'failed', 'deleted'] as const;
export type Happening = (typeof events)[number];

export interface OrderEntry {
  readonly path: string;
  readonly what: Happening;
}

export function readOrderEntry(text: string): OrderEntry | { readonly problem: string } {
  const [path = '', what = '', ...rest] = text.trim().split(/\s+/);
  if (what === '' || rest.length > 0)
    return { problem: `"${text}" is not an entry of order; use a value like "shop/database ended"` };
  const known = events.find((one) => one === what);
  return known ? { path, what: known } : { problem: `"${what}" is not an event; ${hintFor(what, events)}` };
}
