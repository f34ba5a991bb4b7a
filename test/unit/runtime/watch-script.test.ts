import { expect } from 'chai';
import type { WatchOptions } from '../../../src/runtime/cache/watch.ts';
import { statusError } from '../../support/scripted-api.ts';
import {
  added,
  at,
  bookmark,
  busy,
  deleted,
  failed,
  listed,
  modified,
  noStreaming,
  notYet,
  OPEN,
  page,
  reset,
  tooLarge,
  traceOf,
  type Reply,
} from './support/scripted-watch.ts';

/** A list of `a`, at version 10, that took a second and is watched from then on. */
const streamed: Reply = [OPEN, added('a', 5), listed(10), 1_000];
/** The server rejects the list as a stream. */
const rejected = ['listing', '> watch stream', 'listing'];
const seen = ['listing', '> watch stream', 'init start', 'object a 5', 'complete 10', 'watching'];
const older = (version: number, newest: number): string =>
  `the server listed version ${String(version)}, older than ${String(newest)} seen before`;

interface Row {
  readonly title: string;
  readonly replies: readonly Reply[];
  readonly expected: readonly string[];
  readonly options?: Partial<WatchOptions>;
  /** Default 115 s, so that a silent server is not missed yet. */
  readonly ms?: number;
}

function hold(rows: readonly Row[]): void {
  for (const { title, replies, expected, options, ms } of rows)
    it(title, async () => {
      expect(await traceOf(replies, options, ms)).to.deep.equal(expected);
    });
}

const NOT_SERVED =
  'the server does not serve this kind and version; check that its CustomResourceDefinition is installed';

describe('the requests of a watch and its deliveries', () => {
  describe('while it lists', () => {
    hold([
      {
        title: 'a streamed list and its changes on one connection',
        replies: [
          [
            OPEN,
            added('a', 5),
            modified('b', 7),
            bookmark(8),
            deleted('b', 9),
            listed(10),
            modified('a', 11),
            added('c', 12),
            deleted('a', 13),
            bookmark(14),
            Infinity,
          ],
        ],
        expected: [
          'listing',
          '> watch stream',
          'init start',
          'object a 5',
          'object b 7',
          'DELETED b 9',
          'complete 10',
          'watching',
          'MODIFIED a 11',
          'ADDED c 12',
          'DELETED a 13',
          'bookmark 14',
        ],
      },
      {
        title: 'pages if the server rejects streaming, at once and from then on',
        replies: [[noStreaming], [page(10, at('a', 5)), page(10, at('b', 7))], [OPEN, 2_000, failed(410)]],
        expected: [
          'listing',
          '> watch stream',
          'listing',
          '> list',
          'init start',
          'object a 5',
          'object b 7',
          'complete 10',
          '> watch from 10',
          'watching',
          'listing',
          '> list',
        ],
      },
      {
        title: 'pages if a streamed list is silent for ten seconds',
        replies: [[OPEN, added('a', 5), 9_999, added('b', 6), Infinity]],
        ms: 19_999,
        expected: [
          'listing',
          '> watch stream',
          'init start',
          'object a 5',
          'object b 6',
          'listing',
          '> list',
        ],
      },
      {
        title: 'the streamed list to its end if it is silent for less',
        replies: [[OPEN, 9_999, added('b', 6), 9_999, listed(10), 60_000, modified('b', 11), Infinity]],
        expected: [
          'listing',
          '> watch stream',
          'init start',
          'object b 6',
          'complete 10',
          'watching',
          'MODIFIED b 11',
        ],
      },
      {
        title: 'nothing of a streamed list before its first frame',
        replies: [
          [OPEN, reset],
          [OPEN, failed(500)],
        ],
        ms: 2_000,
        expected: [
          'listing',
          '> watch stream',
          'waiting 800: reset',
          'listing',
          '> watch stream',
          'waiting 1600: cannot watch Thing: said 500',
        ],
      },
      {
        title: 'another list, after a pause, if one is rejected as invalid in pages, too',
        replies: [[noStreaming], [noStreaming]],
        ms: 1_000,
        expected: [
          'listing',
          '> watch stream',
          'listing',
          '> list',
          'waiting 800: cannot watch Thing: said 422',
          'listing',
          '> list',
        ],
      },
    ]);
  });

  describe('after a connection has ended', () => {
    hold([
      {
        title: 'at once the events after the last event',
        replies: [
          [...streamed, modified('a', 11)],
          [OPEN, 1_000, bookmark(14)],
        ],
        expected: [...seen, 'MODIFIED a 11', '> watch from 11', 'watching', 'bookmark 14', '> watch from 14'],
      },
      {
        title: 'the events after the last known version if an event has none',
        replies: [[...streamed, modified('a')]],
        expected: [...seen, 'MODIFIED a -', '> watch from 10'],
      },
      {
        title: 'after a pause the events after the list, if the server ends every watch immediately',
        replies: [streamed, [OPEN, 999], [OPEN, 999], [OPEN, 1_000], [OPEN]],
        expected: [
          ...seen,
          '> watch from 10',
          'watching',
          'waiting 800: the server ends every watch immediately',
          '> watch from 10',
          'watching',
          'waiting 1600: the server ends every watch immediately',
          '> watch from 10',
          'watching',
          '> watch from 10',
          'watching',
          'waiting 800: the server ends every watch immediately',
          '> watch from 10',
        ],
      },
      {
        title: 'at once the next events, if the connection outlasts its timeout by five seconds',
        replies: [[...streamed, 453_999, modified('a', 11), 2]],
        ms: 456_001,
        expected: [...seen, 'MODIFIED a 11', '> watch from 11'],
      },
      {
        title: 'the next events, on a connection that is within its timeout',
        replies: [[...streamed, 453_998, modified('a', 11), 1, modified('a', 12), Infinity]],
        ms: 454_999,
        expected: [...seen, 'MODIFIED a 11', 'MODIFIED a 12'],
      },
    ]);
  });

  describe('after an error', () => {
    hold([
      {
        title: 'the same watch, more and more slowly, whatever the error',
        replies: [[...streamed, reset], [reset], [statusError(500)], [OPEN, failed(403)], [noStreaming]],
        ms: 20_000,
        expected: [
          ...seen,
          'waiting 800: reset',
          '> watch from 10',
          'waiting 1600: reset',
          '> watch from 10',
          'waiting 3200: cannot watch Thing: said 500',
          '> watch from 10',
          'watching',
          'waiting 6400: cannot watch Thing: said 403',
          '> watch from 10',
          'waiting 12800: cannot watch Thing: said 422',
        ],
      },
      {
        title: 'everything if its history has expired, at once if the last list is a second old',
        replies: [
          [...streamed, failed(410)],
          [added('a', 12), listed(20), 999, failed(410)],
          [added('a', 12), listed(30), Infinity],
        ],
        expected: [
          ...seen,
          'listing',
          '> watch stream',
          'init expired',
          'object a 12',
          'complete 20',
          'watching',
          'waiting 800: cannot watch Thing: said 410',
          'listing',
          '> watch stream',
          'init expired',
          'object a 12',
          'complete 30',
          'watching',
        ],
      },
      {
        title: 'everything, after a pause, if the kind is gone',
        replies: [[...streamed, statusError(404)], [statusError(404)], [listed(20), Infinity]],
        expected: [
          ...seen,
          `waiting 800: cannot watch Thing: ${NOT_SERVED}`,
          'listing',
          '> watch stream',
          `waiting 1600: cannot watch Thing: ${NOT_SERVED}`,
          'listing',
          '> watch stream',
          'init missing',
          'complete 20',
          'watching',
        ],
      },
      {
        title: 'pages from then on, after a second at least, if an event is too large',
        replies: [[...streamed, 20_000, tooLarge], [page(20, at('a', 15))], [2_000, tooLarge], [tooLarge]],
        expected: [
          ...seen,
          'waiting 1000: too large',
          'listing',
          '> list',
          'init oversized',
          'object a 15',
          'complete 20',
          '> watch from 20',
          'waiting 1000: too large',
          'listing',
          '> list',
          'waiting 1600: too large',
          'listing',
          '> list',
        ],
      },
      {
        title: 'the same request, after the time that the server requests',
        replies: [[...streamed, busy], [busy]],
        expected: [
          ...seen,
          'waiting 20000: cannot watch Thing: busy',
          '> watch from 10',
          'waiting 20000: cannot watch Thing: busy',
          '> watch from 10',
        ],
      },
      {
        title: 'at once the next events, after a connection that delivered for a second',
        replies: [
          [...streamed, modified('a', 11), reset],
          [OPEN, modified('a', 12), reset],
        ],
        expected: [
          ...seen,
          'MODIFIED a 11',
          '> watch from 11',
          'watching',
          'MODIFIED a 12',
          'waiting 800: reset',
          '> watch from 12',
        ],
      },
      {
        title: 'at once the next events, after a connection that was open for ten seconds without an event',
        replies: [streamed, [OPEN, 10_000, reset], [OPEN, bookmark(10), 9_999, reset]],
        expected: [
          ...seen,
          '> watch from 10',
          'watching',
          '> watch from 10',
          'watching',
          'bookmark 10',
          'waiting 800: reset',
          '> watch from 10',
        ],
      },
    ]);
  });

  describe('if versions go back', () => {
    hold([
      {
        title: 'a list that is at least as new as the last version',
        replies: [
          [...streamed, modified('a', 90), failed(410)],
          [added('a', 60), listed(60)],
          [listed(90), Infinity],
        ],
        expected: [
          ...seen,
          'MODIFIED a 90',
          'listing',
          '> watch stream',
          'init expired',
          'object a 60',
          `waiting 800: ${older(60, 90)}`,
          'listing',
          '> watch stream from 90',
          'init stale',
          'complete 90',
          'watching',
        ],
      },
      {
        title: 'a list of pages that is at least as new as the last version',
        replies: [[noStreaming], [page(90)], [2_000, failed(410)], [page(60, at('a', 5))], [page(90)]],
        expected: [
          ...rejected,
          '> list',
          'init start',
          'complete 90',
          '> watch from 90',
          'listing',
          '> list',
          `waiting 800: ${older(60, 90)}`,
          'listing',
          '> list from 90',
          'init stale',
          'complete 90',
          '> watch from 90',
        ],
      },
      {
        title: 'a list of any version after three that are too old, and accepts it',
        replies: [
          [...streamed, bookmark(90), failed(410)],
          [listed(60)],
          [notYet],
          [listed(60)],
          [added('a', 55), listed(60), modified('a', 61), 2_000],
          [OPEN, 1_000, failed(410)],
          [listed(50)],
        ],
        ms: 20_000,
        expected: [
          ...seen,
          'bookmark 90',
          'listing',
          '> watch stream',
          'init expired',
          `waiting 800: ${older(60, 90)}`,
          'listing',
          '> watch stream from 90',
          'waiting 1600: cannot watch Thing: not yet',
          'listing',
          '> watch stream from 90',
          'init stale',
          `waiting 3200: ${older(60, 90)}`,
          'listing',
          '> watch stream',
          'init stale accepting older',
          'object a 55',
          'complete 60',
          'watching',
          'MODIFIED a 61',
          '> watch from 61',
          'watching',
          'listing',
          '> watch stream',
          'init expired',
          `waiting 800: ${older(50, 61)}`,
          'listing',
          '> watch stream from 61',
        ],
      },
      {
        title: 'pages of any version after three that are too old, and accepts them',
        replies: [
          [noStreaming],
          [page(90)],
          [2_000, failed(410)],
          ...[60, 60, 60, 60].map((version) => [page(version)]),
        ],
        expected: [
          ...rejected,
          '> list',
          'init start',
          'complete 90',
          '> watch from 90',
          'listing',
          '> list',
          `waiting 800: ${older(60, 90)}`,
          'listing',
          '> list from 90',
          `waiting 1600: ${older(60, 90)}`,
          'listing',
          '> list from 90',
          `waiting 3200: ${older(60, 90)}`,
          'listing',
          '> list',
          'init stale accepting older',
          'complete 60',
          '> watch from 60',
        ],
      },
      {
        title: 'everything after a bookmark that is older than the last version',
        replies: [
          [...streamed, modified('a', 90)],
          [OPEN, bookmark(60)],
        ],
        ms: 3_000,
        expected: [
          ...seen,
          'MODIFIED a 90',
          '> watch from 90',
          'watching',
          `waiting 800: ${older(60, 90)}`,
          'listing',
          '> watch stream from 90',
        ],
      },
      {
        title: 'the events after one that is older than another, without going back below the newest',
        replies: [
          [...streamed, modified('a', 90), modified('b', 80)],
          [OPEN, bookmark(85), 2_000],
          [OPEN, Infinity],
        ],
        ms: 3_500,
        expected: [
          ...seen,
          'MODIFIED a 90',
          'MODIFIED b 80',
          '> watch from 80',
          'watching',
          `waiting 800: ${older(85, 90)}`,
          'listing',
          '> watch stream from 90',
        ],
      },
      {
        title: 'everything it gets, if versions cannot be compared',
        replies: [
          [...streamed, bookmark(5), 1_000, failed(410)],
          [listed(3), Infinity],
        ],
        options: { compare: () => undefined },
        expected: [
          ...seen,
          'bookmark 5',
          'listing',
          '> watch stream',
          'init expired',
          'complete 3',
          'watching',
        ],
      },
    ]);
  });

  describe('for a part of the kind', () => {
    const scope = { namespace: 'ns', labels: 'a=b', fields: 'metadata.name=a', metadataOnly: true };
    const told = JSON.stringify(scope);
    hold([
      {
        title: 'that part of a stream',
        replies: [[listed(10), 1_000]],
        options: scope,
        expected: [
          'listing',
          `> watch stream ${told}`,
          'init start',
          'complete 10',
          'watching',
          `> watch from 10 ${told}`,
        ],
      },
      {
        title: 'that part of pages',
        replies: [[noStreaming], [page(10)]],
        options: scope,
        expected: [
          'listing',
          `> watch stream ${told}`,
          'listing',
          `> list ${told}`,
          'init start',
          'complete 10',
          `> watch from 10 ${told}`,
        ],
      },
    ]);
  });
});
