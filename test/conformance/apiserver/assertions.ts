/** Assertions about responses: that they succeeded, or were rejected with a message and causes. */
import { expect } from 'chai';
import type { Json, Reply } from './subject.ts';

/** The response itself, if it is a success. */
export function succeeded(reply: Reply): Reply {
  expect(reply.code, reply.text).to.be.within(200, 299);
  return reply;
}

/**
 * The Status of a rejection.
 * @param message the whole message, its beginning if it ends with `…`, or a pattern
 */
export function refused(reply: Reply, code: number, message: string | RegExp): Json {
  expect(reply.code, reply.text).to.equal(code);
  const text = String(reply.body.message);
  if (message instanceof RegExp) expect(text).to.match(message);
  else if (message.endsWith('…')) expect(text.slice(0, message.length - 1)).to.equal(message.slice(0, -1));
  else expect(text).to.equal(message);
  return reply.body;
}

/** `field: message` of every cause, in alphabetical order. */
export const causesOf = (reply: Reply): string[] =>
  ((reply.body?.details?.causes ?? []) as Json[])
    .map((cause) => `${String(cause.field)}: ${String(cause.message)}`)
    .sort();

/** The texts of the Warning headers. */
export const warningsOf = (reply: Reply): string[] =>
  [
    ...[reply.headers['warning'] ?? []]
      .flat()
      .join(', ')
      .matchAll(/299 - "((?:[^"\\]|\\.)*)"/g),
  ].map(([, text]) => (text ?? '').replaceAll('\\"', '"'));

export const MERGE = 'application/merge-patch+json';
export const JSON_PATCH = 'application/json-patch+json';
export const STRATEGIC = 'application/strategic-merge-patch+json';
