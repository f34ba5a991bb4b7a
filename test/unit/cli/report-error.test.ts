import { expect } from 'chai';
import { reportError, lineFor } from '../../../src/cli/report-error.ts';
import { CommandError, UsageError } from '../../../src/cli/errors.ts';
import { hasColours } from '../../../src/cli/terminal/terminal.ts';
import {
  apiErrorFrom,
  KubeconfigError,
  NotFound,
  TransportError,
  Unauthorized,
} from '../../../src/runtime/errors.ts';
import { fakeTerminal } from './terminal.ts';
import { selfCommand } from '../../../src/cli/self-command.ts';

describe('an error message', () => {
  const ref = { verb: 'list', kind: 'Installation' };
  const rows: readonly (readonly [Error, string])[] = [
    [new UsageError('say which'), 'say which'],
    [new CommandError('there is no such thing'), 'there is no such thing'],
    [new KubeconfigError({ message: 'kubeconfig k has no context c' }), 'kubeconfig k has no context c'],
    [
      new TransportError({ message: 'cannot reach https://x (ECONNREFUSED)', safeToRepeat: true }),
      'cannot reach https://x (ECONNREFUSED); check that the server is running and --kubeconfig is correct',
    ],
    [
      new Unauthorized({ message: 'Unauthorized', status: 401, reason: 'Unauthorized', ref }),
      'Unauthorized; renew the credentials in the kubeconfig, or choose another --context',
    ],
    [
      new NotFound({
        message: 'the server could not find the requested resource',
        status: 404,
        reason: 'NotFound',
        ref,
      }),
      `the server could not find the requested resource; install the definitions with: ${selfCommand()} crds | kubectl apply --server-side -f -`,
    ],
    [
      apiErrorFrom(404, '404 page not found', { verb: 'list', kind: 'Installation' }),
      `cannot list Installation: the server does not serve this kind and version; check that its CustomResourceDefinition is installed; install the definitions with: ${selfCommand()} crds | kubectl apply --server-side -f -`,
    ],
    [Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' }), 'listen EADDRINUSE'],
    [
      new TypeError('x is not\n  a function'),
      'x is not a function; this is unexpected; run the command with --log-level debug for details',
    ],
  ];
  for (const [error, line] of rows)
    it(`is one line: ${line.slice(0, 60)}`, () => {
      expect(lineFor(error)).to.equal(line);
    });

  it('sets the exit code: 2 for usage, 1 for failures', () => {
    expect(reportError(fakeTerminal(), new UsageError('x'))).to.equal(2);
    expect(reportError(fakeTerminal(), new CommandError('x'))).to.equal(1);
    expect(reportError(fakeTerminal(), 'thrown text')).to.equal(1);
  });

  it('shows the stack only on request', () => {
    const quiet = fakeTerminal();
    reportError(quiet, new Error('x'));
    expect(quiet.errors.trimEnd()).not.to.contain('\n');
    const verbose = fakeTerminal();
    verbose.isVerbose = true;
    reportError(verbose, new Error('x'));
    expect(verbose.errors).to.match(/\n +at /);
  });
});

describe('colours', () => {
  const rows: readonly (readonly [boolean | undefined, Record<string, string>, boolean])[] = [
    [true, {}, true],
    [false, {}, false],
    [undefined, {}, false],
    [undefined, { CI: 'true' }, false],
    [true, { NO_COLOR: '1' }, false],
    [true, { NO_COLOR: '' }, true],
    [true, { TERM: 'dumb' }, false],
    [false, { FORCE_COLOR: '1' }, true],
    [false, { FORCE_COLOR: '0' }, false],
    [false, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
  ];
  for (const [isTerminal, env, expected] of rows)
    it(`are ${expected ? 'on' : 'off'} ${isTerminal ? 'on a terminal' : `where isTTY is ${String(isTerminal)}`} with ${JSON.stringify(env)}`, () => {
      expect(hasColours(isTerminal, env)).to.equal(expected);
    });
});
