/** Which addresses a tenant's server cannot lead a request to. */
import type { LookupFunction } from 'node:net';
import { expect } from 'chai';
import { Trust } from '../../../src/components/trust.ts';
import { connectionAdvice, isDefiniteFault } from '../../../src/lib/connection.ts';
import {
  LocalAddress,
  lookupFor,
  type ChosenBy,
  type LocalAddresses,
} from '../../../src/lib/local-addresses.ts';

const HOME = new URL('https://charts.example.org/stable');
const at = (host: string): URL => new URL(`http://${host}/x`);

describe('the address of a server', () => {
  const chooser = (url: URL, first = HOME, local?: LocalAddresses): string => {
    try {
      return new Trust({ local }).chooserOf(url, first);
    } catch (error) {
      return error instanceof LocalAddress ? 'refused' : String(error);
    }
  };

  const linkLocal = [
    '169.254.169.254',
    '169.254.0.1:8080',
    '[fe80::1]',
    '[::ffff:169.254.169.254]',
    '[fd00:ec2::254]',
  ];
  const loopback = [
    '127.0.0.1',
    '127.9.8.7:80',
    '0.0.0.0',
    '[::1]',
    '[::]',
    '[::ffff:7f00:1]',
    '0x7f.1',
    '2130706433',
  ];
  const elsewhere = ['10.0.0.1', '192.168.1.1', '170.254.1.1', '[fd00::1]', 'localhost.example.org'];

  for (const host of linkLocal)
    it(`${host} is refused, also if a user has chosen it`, () => {
      expect(chooser(at(host), at(host))).to.equal('refused');
      expect(chooser(at(host), at('127.0.0.1:1'))).to.equal('refused');
      expect(chooser(at(host))).to.equal('refused');
      expect(chooser(at(host), at(host), 'all')).to.equal('user');
    });
  for (const host of loopback)
    it(`${host} is refused unless a user has chosen it`, () => {
      expect(chooser(at(host), at(host))).to.equal('user');
      expect(chooser(at(host))).to.equal('refused');
      expect(chooser(at(host), at('10.0.0.1'))).to.equal('refused');
      expect(chooser(at(host), HOME, 'all')).to.equal('redirect');
      expect(chooser(at(host), at(host), 'none')).to.equal('refused');
      expect(chooser(at(host), at('localhost'), 'none')).to.equal('refused');
    });
  for (const host of elsewhere)
    it(`${host} is accepted`, () => {
      expect(chooser(at(host))).to.equal('redirect');
      expect(chooser(at(host), at(host))).to.equal('user');
    });
  it('may be on this machine if the server that names it is there as well', () => {
    for (const first of ['localhost:5000', 'registry.localhost', '127.0.0.1:5000', '[::1]:5000'])
      expect(chooser(at('127.0.0.1:6000'), at(first)), first).to.equal('user');
    for (const first of ['localhost.example.org', 'mylocalhost'])
      expect(chooser(at('127.0.0.1:6000'), at(first)), first).to.equal('refused');
  });

  type Found = Parameters<Parameters<LookupFunction>[2]>;
  const lookedUp = (chosenBy: ChosenBy, ...found: Found): Promise<unknown> =>
    new Promise((resolve) => {
      lookupFor(chosenBy, (_name, _options, callback) => {
        callback(...found);
      })('charts.example.org', {}, (error, address) => {
        resolve(error ?? address);
      });
    });

  it('is checked when a name is looked up, each of several', async () => {
    const several = [
      { address: '10.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ];
    expect(await lookedUp('redirect', null, several)).to.be.instanceOf(LocalAddress);
    expect(await lookedUp('user', null, several)).to.equal(several);
    expect(await lookedUp('redirect', null, '127.0.0.1', 4)).to.be.instanceOf(LocalAddress);
    expect(await lookedUp('user', null, '169.254.1.1', 4)).to.be.instanceOf(LocalAddress);
    expect(await lookedUp('redirect', null, '10.0.0.1', 4)).to.equal('10.0.0.1');
  });
  it('is not checked if a name is not found', async () => {
    const missing = Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    expect(await lookedUp('redirect', missing, [])).to.equal(missing);
  });
  it('is not looked up differently if local ones are allowed', () => {
    expect(new Trust({ local: 'all' }).connect(undefined, 'redirect').connect).to.deep.equal({});
    expect(new Trust().connect(undefined, 'redirect').connect).to.have.keys('lookup');
  });
  it('that is refused says what it is and how to allow it, and is not asked again', () => {
    const error = new LocalAddress('charts.example.org', '127.0.0.1');
    expect(error.message).to.contain('charts.example.org (127.0.0.1)');
    expect(connectionAdvice(error, '')).to.contain('registry.allowLocalAddresses');
    expect(isDefiniteFault(error)).to.equal(true);
  });
  it('has connections of its own, so none that is open leads past the check', () => {
    const trust = new Trust();
    expect(trust.connect(undefined, 'user').key).to.not.equal(trust.connect(undefined, 'redirect').key);
  });
});
