import { expect } from 'chai';
import { seededRng } from '../../../../src/lib/rng.ts';
import { FakeClock } from '../../../support/clock.ts';
import { render } from './support.ts';

describe('functions of time and randomness', () => {
  it('get both from outside', () => {
    const text = '{{ randAlphaNum 8 }} {{ uuidv4 }} {{ randInt 0 100 }} {{ randBytes 6 }}';
    expect(render(text, {}, { rng: seededRng(7) })).to.equal(render(text, {}, { rng: seededRng(7) }));
    expect(render(text, {}, { rng: seededRng(7) })).not.to.equal(render(text, {}, { rng: seededRng(8) }));
  });

  it('return the time of the clock', () => {
    const clock = new FakeClock('2026-02-03T04:05:06Z');
    expect(
      render('{{ now | date "2006-01-02T15:04:05Z07:00" }} {{ now | unixEpoch }}', {}, { clock }),
    ).to.equal('2026-02-03T04:05:06Z 1770091506');
    expect(render('{{ ago (now | dateModify "-90m") }}', {}, { clock })).to.equal('1h30m0s');
  });

  it('create version 4 UUIDs', () => {
    expect(render('{{ uuidv4 }}', {})).to.match(
      /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  it('encrypt so that only the password decrypts', () => {
    expect(render('{{ encryptAES "key" "text" | decryptAES "key" }}', {})).to.equal('text');
  });
});
