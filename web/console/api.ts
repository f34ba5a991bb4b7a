/** Requests to the console's server. */
import type { Problem } from '../../src/cli/console/wire.ts';

export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** @throws ApiProblem if the server refuses the request @throws TypeError if it is not reachable */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await fetch(path, signal ? { signal } : {});
  if (!response.ok) throw await problemOf(response);
  return (await response.json()) as T;
}

/** @throws ApiProblem */
export const post = (path: string, body: object): Promise<void> =>
  send(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** @throws ApiProblem */
export const remove = (path: string): Promise<void> => send(path, { method: 'DELETE' });

async function send(path: string, request: RequestInit): Promise<void> {
  const response = await fetch(path, request);
  if (!response.ok) throw await problemOf(response);
}

async function problemOf(response: Response): Promise<ApiProblem> {
  const { error } = (await response.json().catch(() => ({ error: response.statusText }))) as Problem;
  return new ApiProblem(response.status, error);
}

export const landscapePath = (id: string): string =>
  `/api/landscapes/${id.split('/').map(encodeURIComponent).join('/')}`;
