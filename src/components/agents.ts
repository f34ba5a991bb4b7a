/** Connections to registries, separate for different trusted certificate authorities. */
import type { Agent } from 'undici';
import type { ChosenBy } from '../lib/local-addresses.ts';
import { loadAgent } from '../lib/undici.ts';
import type { Trust } from './trust.ts';

const CONNECT_MS = 10_000;
const IDLE_TIMEOUT_MS = 30_000;
const MAX_AGENTS = 20;
/** To one registry, of all namespaces. */
export const CONNECTIONS = 32;

export class Agents {
  readonly #trust: Trust;
  readonly #agents = new Map<string, Agent>();

  constructor(trust: Trust) {
    this.#trust = trust;
  }

  /** @param authorities certificates in PEM, trusted in addition to those of the configuration */
  for(authorities: string | undefined, chosenBy: ChosenBy): Agent {
    const { key, connect } = this.#trust.connect(authorities, chosenBy);
    const agent =
      this.#agents.get(key) ??
      new (loadAgent())({
        connect: { timeout: CONNECT_MS, ...connect },
        headersTimeout: IDLE_TIMEOUT_MS,
        bodyTimeout: IDLE_TIMEOUT_MS,
        connections: CONNECTIONS,
      });
    this.#agents.delete(key);
    this.#agents.set(key, agent);
    const [oldest] = this.#agents;
    if (this.#agents.size > MAX_AGENTS && oldest) {
      this.#agents.delete(oldest[0]);
      void oldest[1].close(); // after its requests
    }
    return agent;
  }

  async close(): Promise<void> {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
  }
}
