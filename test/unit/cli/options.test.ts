import { expect } from 'chai';
import { InvalidArgumentError } from 'commander';
import {
  address,
  duration,
  list,
  memoryMiB,
  port,
  namespacedName,
  webhookUrl,
} from '../../../src/cli/terminal/options.ts';

describe('option values', () => {
  const addresses: readonly (readonly [string, object])[] = [
    ['127.0.0.1:8080', { host: '127.0.0.1', port: 8080 }],
    [':8080', { host: '0.0.0.0', port: 8080 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
    ['[::1]:9', { host: '::1', port: 9 }],
  ];
  for (const [text, expected] of addresses)
    it(`reads the address ${text}`, () => {
      expect(address(text)).to.deep.equal(expected);
    });
  for (const text of ['', '8080', 'host', 'host:', '::1:8080', 'host:70000', 'host:-1'])
    it(`rejects the address "${text}"`, () => {
      expect(() => address(text)).to.throw(InvalidArgumentError);
    });

  for (const text of ['-1', '65536', '1e3', '', 'http'])
    it(`rejects the port "${text}"`, () => {
      expect(() => port(text)).to.throw(InvalidArgumentError);
    });
  it('reads ports', () => {
    expect([port('0'), port('65535')]).to.deep.equal([0, 65_535]);
  });

  it('reads durations and memory', () => {
    expect([duration('90s'), duration('2m'), memoryMiB('128')]).to.deep.equal([90_000, 120_000, 128]);
  });
  for (const text of ['', '0s', '-1s', 'soon'])
    it(`rejects the duration "${text}"`, () => {
      expect(() => duration(text)).to.throw(InvalidArgumentError);
    });
  for (const text of ['', '127', '1Gi'])
    it(`rejects the memory "${text}"`, () => {
      expect(() => memoryMiB(text)).to.throw(InvalidArgumentError);
    });

  it('reads names with their namespace', () => {
    expect(namespacedName('ls/hooks')).to.deep.equal({ namespace: 'ls', name: 'hooks' });
  });
  for (const text of ['', 'hooks', '/hooks', 'ls/', 'ls/hooks/more'])
    it(`rejects the namespaced name "${text}"`, () => {
      expect(() => namespacedName(text)).to.throw(InvalidArgumentError);
    });

  it('reads URLs that API servers accept', () => {
    expect(webhookUrl('https://10.0.0.5:9443/ls').href).to.equal('https://10.0.0.5:9443/ls');
  });
  for (const text of [
    '',
    'hooks',
    'http://hooks',
    'https://a:b@hooks',
    'https://hooks?x=1',
    'https://hooks#x',
  ])
    it(`rejects the URL "${text}"`, () => {
      expect(() => webhookUrl(text)).to.throw(InvalidArgumentError);
    });

  it('reads lists, also in several parts', () => {
    expect(list('a, b,')).to.deep.equal(['a', 'b']);
    expect(list('c', ['a'])).to.deep.equal(['a', 'c']);
    expect(() => list(' ,')).to.throw(InvalidArgumentError);
  });
});
