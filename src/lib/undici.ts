/**
 * Loads single classes of undici. The main module of the package also loads fetch, WebSocket, caches and mocks, which
 * takes longer than all requests of a short command.
 */
import { createRequire } from 'node:module';
import type * as Undici from 'undici';

const load = createRequire(import.meta.url);

/** Sockets to one server. */
export const loadPool = (): typeof Undici.Pool => dispatcher('pool') as typeof Undici.Pool;

/** Sockets to any servers. */
export const loadAgent = (): typeof Undici.Agent => dispatcher('agent') as typeof Undici.Agent;

function dispatcher(name: 'pool' | 'agent'): unknown {
  const { prototype } = load('undici/lib/dispatcher/dispatcher.js') as { prototype: object };
  // The main module does the same; without it, dispatchers have no method `request`.
  Object.assign(prototype, load('undici/lib/api/index.js'));
  return load(`undici/lib/dispatcher/${name}.js`);
}
