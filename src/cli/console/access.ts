/** Who uses the console, and what they see. The server asks for each request. */
import type { FastifyRequest } from 'fastify';
import type { TargetReader } from '../../../deployers/sdk/index.ts';
import type { Client } from '../../runtime/types.ts';
import type { Planner } from './changes/plan-process.ts';
import type { Feed } from './feed.ts';
import type { Model } from './model.ts';
import type { About, Action, Login } from './wire.ts';

/** A user with a session: what they see, and their rights. */
export interface Viewer {
  readonly model: Model;
  readonly feed: Feed;
  /** Sends requests with the rights of the viewer. */
  readonly client: Client;
  /** Connects to the clusters of targets; undefined if the console uses no credentials of targets. */
  readonly targets?: TargetReader | undefined;
  /** Undefined if the console does not compute plans. */
  readonly plan?: Planner | undefined;
  readonly about: About;
  /** Called after an action on a landscape. */
  readonly onAction: (action: Action, landscape: string) => void;
  /**
   * Calls back when the viewer may no longer follow the feed, until the returned function is called.
   * @throws Refused if the viewer follows too many feeds
   */
  readonly onEnd: (listener: () => void) => () => void;
}

export interface Access {
  readonly login: Login;
  /** The origin of the console's own pages, for a request to them. @throws Refused for another host */
  originOf(request: FastifyRequest): string;
  /** Undefined without a session. @throws Refused if the rights of the viewer are not known */
  viewerOf(request: FastifyRequest): Promise<Viewer | undefined>;
  /** Starts a session. @returns the header Set-Cookie @throws Refused */
  start(request: FastifyRequest, token: string): Promise<string>;
  /** Ends the session of the request. @returns the header Set-Cookie */
  end(request: FastifyRequest): string;
  /** An error of the API server, for the viewer. */
  describe(error: unknown): string;
  close(): void;
}

/** A request that the console refuses. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly statusCode: number;

  /** @param message for the viewer, with the way out */
  constructor(statusCode: number, message: string) {
    super(message);
    this.statusCode = statusCode;
  }
}
