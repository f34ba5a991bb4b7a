/** What a controller gets from its process. */
import type { Clock } from '../../lib/clock.ts';
import type { Rng } from '../../lib/rng.ts';
import type { Logger } from '../../observability/log.ts';
import type { Caches, Client } from '../types.ts';
import type { Recorder } from './recorder.ts';
import type { Share } from './share.ts';
import type { Fence } from './writer.ts';

export interface ControllerPorts {
  readonly client: Client;
  readonly caches: Caches;
  readonly clock: Clock;
  readonly rng: Rng;
  readonly log: Logger;
  readonly recorder: Recorder;
  readonly fence: Fence;
  /** Default: this process is responsible for all objects. */
  readonly share?: Share;
}
