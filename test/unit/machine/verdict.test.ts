import { expect } from 'chai';
import { deployItemKind } from '../../../src/api/kinds/deployitem.ts';
import { create } from '../../../src/machine/decision.ts';
import { judgeWrite } from '../../../src/machine/verdict.ts';
import {
  ApiError,
  Conflict,
  Forbidden,
  Invalid,
  NotFound,
  ResponseTooLarge,
  ServerFailure,
  TransportError,
  apiErrorFrom,
} from '../../../src/runtime/errors.ts';
import { deleting, item } from '../../support/given.ts';
import { stackOverflow } from '../../support/nested.ts';

const ref = { verb: 'create', kind: 'DeployItem', namespace: 'demo', name: 'a' };
const facts = (status: number, causes: { reason: string }[] = []) => ({ status, reason: '', ref, causes });
const going = new Forbidden({ message: 'no', ...facts(403, [{ reason: 'NamespaceTerminating' }]) });
const denied = new Forbidden({
  message:
    'deployitems.landscaper.gardener.cloud is forbidden: User "x" cannot create resource "deployitems"',
  ...facts(403),
});
const TERMINATING = 'create not allowed while custom resource definition is terminating';
const effect = create(deployItemKind, item('plan', 'a'));

describe('a rejected write', () => {
  const rows = [
    { what: 'a conflict', error: new Conflict({ message: 'x', ...facts(409) }), outcome: 'repeat' },
    {
      what: 'an object that is gone',
      error: new NotFound({ message: 'x', ...facts(404) }),
      outcome: 'repeat',
    },
    {
      what: 'an object that makes no sense',
      error: new Invalid({ message: 'x', ...facts(422) }),
      outcome: 'fail',
    },
    {
      what: 'an admission plugin that refuses',
      error: new Forbidden({ message: 'x', ...facts(403) }),
      outcome: 'fail',
    },
    { what: 'a role that is missing, perhaps only for now', error: denied, outcome: 'retry' },
    { what: 'a role that is still missing after two retries', error: denied, attempt: 2, outcome: 'retry' },
    { what: 'a role that is still missing after three retries', error: denied, attempt: 3, outcome: 'fail' },
    {
      what: 'an object that the server finds too large',
      error: new ApiError({ message: 'x', ...facts(413) }),
      outcome: 'fail',
    },
    {
      what: 'an object that etcd finds too large',
      error: new ServerFailure({ message: 'etcdserver: request is too large', ...facts(500) }),
      outcome: 'fail',
    },
    { what: 'an object that is nested too deeply to be sent', error: stackOverflow(), outcome: 'fail' },
    {
      what: 'a server in trouble',
      error: new ServerFailure({ message: 'x', ...facts(500) }),
      outcome: 'retry',
    },
    { what: 'a namespace that goes, before the object itself is deleted', error: going, outcome: 'retry' },
    {
      what: 'a definition that is being deleted, as API servers say it',
      error: new ApiError({ message: TERMINATING, ...facts(405) }),
      outcome: 'retry',
    },
    {
      what: 'a definition that is being deleted, as an admission plugin',
      error: new Forbidden({ message: `deployitems is forbidden: ${TERMINATING}`, ...facts(403) }),
      outcome: 'retry',
    },
    { what: 'a namespace that goes with the object', error: going, meta: deleting, outcome: 'fail' },
  ];
  for (const { what, error, meta = {}, attempt = 0, outcome } of rows) {
    it(`for ${what} means: ${outcome}`, () => {
      expect(judgeWrite(error, effect, meta, attempt).outcome).to.equal(outcome);
    });
  }

  it('is retried if a webhook cannot be called, and has an error code', () => {
    for (const words of ['failed calling webhook "a": x', 'failed to call webhook: x']) {
      const verdict = judgeWrite(new ApiError({ message: words, ...facts(500) }), effect, {});
      expect(verdict).to.deep.equal({
        outcome: 'retry',
        problem: {
          operation: 'write',
          reason: 'WriteDeployItem',
          message: words,
          codes: ['ERR_WEBHOOK'],
        },
      });
    }
  });

  it('is retried if the response was too large to be read', () => {
    const error = new ResponseTooLarge({ message: 'too large', excess: 'bytes', isFinal: false });
    expect(judgeWrite(error, effect, {}).outcome).to.equal('retry');
  });

  it('without an error of a server is a bug of the program, and thrown', () => {
    const bug = new TypeError('x is undefined');
    expect(() => judgeWrite(bug, effect, {})).to.throw(bug);
  });

  it('is reported once, in the words of the server', () => {
    const status = { message: 'DeployItem "a" is invalid: spec.type: Required value', reason: 'Invalid' };
    const error = apiErrorFrom(422, status, { ...ref, namespace: 'demo', name: 'a' });
    expect(judgeWrite(error, effect, {}))
      .to.have.nested.property('problem.message')
      .that.equals('cannot create DeployItem demo/a: DeployItem "a" is invalid: spec.type: Required value');
  });

  it('without a response of a server is reported with the write', () => {
    const error = new TransportError({
      message: 'cannot reach https://h (ECONNREFUSED)',
      safeToRepeat: true,
    });
    expect(judgeWrite(error, effect, {}))
      .to.have.nested.property('problem.message')
      .that.matches(/^create DeployItem demo\/\S+: cannot reach https:\/\/h \(ECONNREFUSED\)$/);
  });
});
