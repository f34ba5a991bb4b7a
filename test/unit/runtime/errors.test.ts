import { expect } from 'chai';
import {
  AlreadyExists,
  ApiError,
  apiErrorFrom,
  Conflict,
  DefinitionError,
  describe as described,
  Forbidden,
  Gone,
  Invalid,
  InvalidObjectName,
  isFinal,
  isNamespaceTerminating,
  NoRetryError,
  NotFound,
  NotWatchedError,
  ResponseTooLarge,
  ServerFailure,
  TooManyRequests,
  Unauthorized,
} from '../../../src/runtime/errors.ts';

const ref = { verb: 'get', kind: 'Thing', namespace: 'ns', name: 'a' };

describe('the error of a response', () => {
  type Row = readonly [status: number, reason: string, expected: typeof ApiError];
  const rows: readonly Row[] = [
    ...([
      [400, '', Invalid],
      [401, '', Unauthorized],
      [403, '', Forbidden],
      [404, '', NotFound],
    ] as const),
    ...([
      [409, 'Conflict', Conflict],
      [409, 'AlreadyExists', AlreadyExists],
      [410, 'Gone', Gone],
    ] as const),
    ...([
      [410, 'Expired', Gone],
      [400, 'Expired', Gone],
      [422, 'Invalid', Invalid],
    ] as const),
    ...([
      [429, '', TooManyRequests],
      [500, '', ServerFailure],
      [599, '', ServerFailure],
    ] as const),
    ...([
      [418, '', ApiError],
      [499, '', ApiError],
    ] as const),
  ];
  for (const [status, reason, expected] of rows)
    it(`${[String(status), reason].filter(Boolean).join(' ')} is a ${expected.name}`, () => {
      const error = apiErrorFrom(status, { reason }, ref);
      expect(error.constructor).to.equal(expected);
      expect([error.status, error.reason, error.ref]).to.deep.equal([status, reason, ref]);
    });

  it('repeats the message of the server, or otherwise the status', () => {
    const messages = [
      { message: 'no way' },
      { message: '', reason: 'Weird' },
      { message: 7 },
      'prose',
      null,
      [],
    ];
    expect(messages.map((body) => apiErrorFrom(418, body, ref).message)).to.deep.equal([
      'cannot get Thing ns/a: no way',
      'cannot get Thing ns/a: the server answered 418 (Weird)',
      ...Array<string>(4).fill('cannot get Thing ns/a: the server answered 418'),
    ]);
  });

  it('says that a kind is not served, whatever the server says about its list', () => {
    for (const verb of ['list', 'watch'])
      expect(
        apiErrorFrom(404, { message: 'the server could not find it' }, { verb, kind: 'Thing' }).message,
      ).to.equal(
        `cannot ${verb} Thing: the server does not serve this kind and version; check that its CustomResourceDefinition is installed`,
      );
  });

  it('uses the pause of the header before that of the body, in seconds that are not negative', () => {
    const pause = (retryAfterSeconds: unknown, header?: number): number | undefined =>
      apiErrorFrom(429, { details: { retryAfterSeconds } }, ref, header).retryAfterMs;
    expect([pause(3), pause(3, 5), pause(0), pause(-1), pause('3'), pause(undefined)]).to.deep.equal([
      3_000,
      5_000,
      0,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('has no causes unless some are given', () => {
    expect(new ApiError({ message: 'no', status: 418, reason: '', ref }).causes).to.deep.equal([]);
  });

  it('keeps the causes, without invalid ones', () => {
    const causes = (value: unknown): unknown => apiErrorFrom(422, { details: { causes: value } }, ref).causes;
    expect(causes([{ reason: 'a', message: 'b' }, 'c', null])).to.deep.equal([{ reason: 'a', message: 'b' }]);
    expect(causes('text')).to.deep.equal([]);
    expect(apiErrorFrom(422, { details: [] }, ref).causes).to.deep.equal([]);
  });

  it('says that a kind may have no status, unless the server names the missing object', () => {
    const ref = { verb: 'patch', kind: 'Thing', namespace: 'A', name: '1', sub: 'status' };
    const message = 'the server could not find the requested resource';
    const missing = apiErrorFrom(404, { message, details: {} }, ref);
    expect(missing).to.be.instanceOf(NotFound);
    expect(missing.message).to.equal(
      'cannot patch status of Thing A/1: the kind has no status subresource, or the object does not exist; set subresources: { status: {} } in the version of the CustomResourceDefinition',
    );
    const gone = { message: 'things "1" not found', details: { name: '1', kind: 'things' } };
    expect(apiErrorFrom(404, gone, ref).message).to.equal(
      'cannot patch status of Thing A/1: things "1" not found',
    );
  });

  describe('for a Secret', () => {
    const secret = { verb: 'create', kind: 'Secret', namespace: 'ns', name: 'a' };
    for (const [status, isHidden] of [
      [422, true],
      [400, true],
      [403, false],
    ] as const)
      it(`${isHidden ? 'hides' : 'shows'} the message of the server with ${String(status)}`, () => {
        const { message } = apiErrorFrom(status, { message: 'invalid value: pa55' }, secret);
        expect(message.includes('pa55')).to.equal(!isHidden);
      });

    const cause = (field: string, reason: string, message: string) => ({ field, reason, message });
    const immutable = cause('type', 'FieldValueInvalid', 'Invalid value: "pa55": field is immutable');
    const rows: readonly (readonly [title: string, causes: unknown, shown: string | undefined])[] = [
      [
        'a field',
        [cause('data[tls.crt]', 'FieldValueRequired', 'Required value')],
        'data[tls.crt]: Required value',
      ],
      ['a reason without the value', [immutable], 'type: Invalid value: field is immutable'],
      [
        'several fields',
        [immutable, cause('data', 'FieldValueTooLong', 'Too long: may not be more than 1048576 bytes')],
        '[type: Invalid value: field is immutable, data: Too long: may not be more than 1048576 bytes]',
      ],
      [
        'no other sentence',
        [cause('data[x]', 'FieldValueInvalid', 'pa55 is wrong')],
        'data[x]: Invalid value',
      ],
      [
        'no sentence that quotes',
        [cause('data[x]', 'FieldValueInvalid', 'a qualified name must be "pa55"')],
        'data[x]: Invalid value',
      ],
      ['no other reason', [cause('data[x]', 'pa55', '')], undefined],
      ['no other field', [cause('pa55', 'FieldValueInvalid', '')], undefined],
      ['no field with blanks', [cause('data[my pa55]', 'FieldValueInvalid', '')], undefined],
      ['no long field', [cause(`data[${'x'.repeat(256)}]`, 'FieldValueInvalid', '')], undefined],
      ['no reason of the prototype', [cause('data', 'constructor', '')], undefined],
      ['nothing of causes that are not a list', { pa55: 1 }, undefined],
      ['nothing of a cause that is not a map', ['pa55', null], undefined],
    ];
    for (const [title, causes, shown] of rows)
      it(`shows ${title}`, () => {
        const error = apiErrorFrom(422, { message: 'pa55', details: { causes } }, secret);
        const message = shown === undefined ? undefined : `Secret "a" is invalid: ${shown}`;
        expect(error.serverMessage).to.equal(message);
        expect(error.message).to.contain(message ?? 'the server answered 422');
        expect(error.message).not.to.contain('pa55');
      });

    it('shows the first ten causes', () => {
      const causes = Array.from({ length: 12 }, (_, i) =>
        cause(`data[k${String(i)}]`, 'FieldValueInvalid', ''),
      );
      const { message } = apiErrorFrom(422, { details: { causes } }, secret);
      expect(message).to.contain('data[k9]').and.not.contain('data[k10]');
    });

    it('keeps the types and fields of causes without their texts', () => {
      const causes = [{ reason: 'a', field: 'b', message: 'pa55' }, { message: 'pa55' }];
      expect(apiErrorFrom(422, { details: { causes } }, secret).causes).to.deep.equal([
        { reason: 'a', field: 'b' },
        {},
      ]);
    });
  });

  it('leaves out words that are too long, and the end of a message that is too long', () => {
    const message = (text: string): string => apiErrorFrom(400, { message: text }, ref).message;
    expect(message(`no ${'x'.repeat(256)} here`)).to.contain(`no ${'x'.repeat(256)} here`);
    expect(message(`no ${'x'.repeat(257)} here`)).to.equal('cannot get Thing ns/a: no … here');
    expect(message('word '.repeat(20_000)).length).to.be.within(10_000, 17_000);
  });

  it('says whose message it repeats, on one line and shortened', () => {
    const named = (message: string): string =>
      apiErrorFrom(400, { message }, ref).attributedTo('the server of target x').message;
    expect(named('a\n\u001b\u202eb')).to.equal('cannot get Thing ns/a: the server of target x answered: a b');
    expect(named('word '.repeat(2_000)).length).to.be.within(500, 1_200);
    expect(apiErrorFrom(400, {}, ref).attributedTo('x').message).to.equal(
      'cannot get Thing ns/a: the server answered 400',
    );
  });
});

describe('the description of a request', () => {
  for (const [title, request, expected] of [
    ['of an object', ref, 'get Thing ns/a'],
    ['of a status', { ...ref, verb: 'patch', sub: 'status' }, 'patch status of Thing ns/a'],
    ['of a namespace', { verb: 'list', kind: 'Thing', namespace: 'ns' }, 'list Thing ns'],
    ['of a kind', { verb: 'watch', kind: 'Thing' }, 'watch Thing'],
  ] as const)
    it(title, () => {
      expect(described(request)).to.equal(expected);
    });

  it('shortens a very long name', () => {
    expect(described({ ...ref, name: 'x'.repeat(100_000) }).length).to.be.below(600);
    expect(described({ ...ref, name: 'x'.repeat(253) })).to.contain('x'.repeat(253));
  });
});

describe('a namespace that is being deleted', () => {
  for (const [title, error, expected] of [
    [
      'detected by a cause',
      apiErrorFrom(403, { details: { causes: [{ reason: 'NamespaceTerminating' }] } }, ref),
      true,
    ],
    [
      'detected by the message',
      apiErrorFrom(403, { message: 'x because it is being terminated' }, ref),
      true,
    ],
    ['not detected by another rejection', apiErrorFrom(403, { message: 'no' }, ref), false],
    [
      'not detected by another cause',
      apiErrorFrom(403, { details: { causes: [{ reason: 'QuotaExceeded' }] } }, ref),
      false,
    ],
    [
      'not detected by another status',
      apiErrorFrom(409, { message: 'because it is being terminated' }, ref),
      false,
    ],
    ['not detected by another error', new Error('because it is being terminated'), false],
  ] as const)
    it(`is ${title}`, () => {
      expect(isNamespaceTerminating(error)).to.equal(expected);
      if (expected) expect(error).to.have.property('outlook', 'passing');
    });
});

describe('a response that is too large', () => {
  const tooLarge = new ResponseTooLarge({ message: 'large', excess: 'bytes', isFinal: true });
  it('is found among the causes of an error', () => {
    expect(ResponseTooLarge.in(tooLarge)).to.equal(tooLarge);
    expect(ResponseTooLarge.in(new Error('a', { cause: new Error('b', { cause: tooLarge }) }))).to.equal(
      tooLarge,
    );
    expect(ResponseTooLarge.in(new Error('a', { cause: 'b' }))).to.equal(undefined);
    expect(ResponseTooLarge.in(undefined)).to.equal(undefined);
  });

  it('is searched in the first twenty errors', () => {
    const wrapped = (times: number): unknown =>
      Array.from({ length: times }).reduce<unknown>((cause) => new Error('wrapped', { cause }), tooLarge);
    expect([ResponseTooLarge.in(wrapped(19)), ResponseTooLarge.in(wrapped(20))]).to.deep.equal([
      tooLarge,
      undefined,
    ]);
  });

  it('is not searched without end', () => {
    const circle = new Error('circle');
    circle.cause = circle;
    expect(ResponseTooLarge.in(circle)).to.equal(undefined);
  });

  it('ends a job only if it comes from a server of a tenant', () => {
    expect(tooLarge.isFinal()).to.equal(true);
    expect(new ResponseTooLarge({ message: 'large', excess: 'bytes', isFinal: false }).isFinal()).to.equal(
      false,
    );
  });
});

describe('a permanent failure', () => {
  for (const [title, error, expected] of [
    ['is marked as final', NoRetryError.of('no'), true],
    ['names an object that cannot exist', new InvalidObjectName({ message: 'no' }), true],
    ['is not another failure of the runtime', new NotWatchedError({ message: 'no' }), false],
    ['is not a wrong definition', new DefinitionError({ message: 'no' }), false],
    ['is not the response of a server', apiErrorFrom(422, {}, ref), false],
    ['is not any other error', new Error('no'), false],
    ['is not a value that is not an error', 'no', false],
  ] as const)
    it(title, () => {
      expect(isFinal(error)).to.equal(expected);
    });

  it('keeps the message and the cause, and is wrapped once', () => {
    const cause = new Error('why');
    const error = NoRetryError.of(cause);
    expect([error.message, error.cause, error.isFinal()]).to.deep.equal(['why', cause, true]);
    expect(NoRetryError.of(error)).to.equal(error);
    expect(NoRetryError.of('text').message).to.equal('text');
  });
});
