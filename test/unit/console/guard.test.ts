import { expect } from 'chai';
import { createSessions, isOwnHost, secretIn } from '../../../src/cli/console/guard.ts';
import { collected, installation } from '../cli/given.ts';
import { ask, consoleOf, cookieOf, ORIGIN } from './parts.ts';

describe('the guard of the console', () => {
  const hosts: readonly (readonly [host: string | undefined, isOwn: boolean])[] = [
    ['127.0.0.1:8082', true],
    ['localhost:8082', true],
    ['[::1]:8082', true],
    ['127.0.0.1:8083', false],
    ['127.0.0.1', false],
    ['attacker.example:8082', false],
    ['127.0.0.1.attacker.example:8082', false],
    [undefined, false],
  ];
  for (const [host, isOwn] of hosts)
    it(`${isOwn ? 'accepts' : 'refuses'} the host ${String(host)}`, () => {
      expect(isOwnHost(host, 8082)).to.equal(isOwn);
    });

  it('reads the cookie with its own name only', () => {
    expect(secretIn('a=b; espalier-console-1=x; espalier-console-2=y', 'espalier-console-2')).to.equal('y');
    expect(secretIn('espalier-console-1=x', 'espalier-console-2')).to.equal(undefined);
  });

  it('exchanges a token that works once only once', () => {
    const sessions = createSessions();
    const token = sessions.createOnceToken();
    expect(sessions.isValid(sessions.exchange(token))).to.equal(true);
    expect(sessions.exchange(token)).to.equal(undefined);
    expect(sessions.exchange('other')).to.equal(undefined);
    expect(sessions.isValid(undefined)).to.equal(false);
    expect(sessions.isValid('')).to.equal(false);
  });
});

describe('requests to the console', () => {
  const { server, sessions } = consoleOf(collected(installation('shop', { phase: 'Succeeded' })));
  after(() => server.close());
  const cookie = cookieOf(sessions);

  it('have security headers in every response', async () => {
    for (const url of ['/', '/assets/console.js', '/api/landscapes', '/api/nothing']) {
      const { headers } = await ask(server, cookie, { url });
      const policy = String(headers['content-security-policy']);
      expect(policy, url).to.contain("default-src 'none'").and.contain("script-src 'self'");
      expect(policy, url).to.contain("frame-ancestors 'none'").and.not.contain('unsafe');
      expect(headers, url).to.include({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'cache-control': 'no-store',
      });
      expect(headers, url).not.to.have.property('access-control-allow-origin');
    }
  });

  it('need a session for data, not for the page', async () => {
    expect((await ask(server, '', { url: '/' })).statusCode).to.equal(200);
    for (const url of ['/api/landscapes', '/api/events', '/api/about', '/api/landscapes/proj/shop/rights']) {
      const { statusCode, body } = await ask(server, '', { url });
      expect(statusCode, url).to.equal(401);
      expect(body, url).to.contain('espalier console');
    }
    expect((await ask(server, 'espalier-console-8082=wrong', { url: '/api/about' })).statusCode).to.equal(
      401,
    );
    expect((await ask(server, cookie, { url: '/api/about' })).statusCode).to.equal(200);
  });

  it('are refused for another host, even for the page', async () => {
    for (const url of ['/', '/api/landscapes']) {
      const answer = await ask(server, cookie, { url, headers: { host: 'attacker.example:8082' } });
      expect(answer.statusCode, url).to.equal(403);
    }
  });

  it('exchange the token for a cookie that scripts and other sites cannot use', async () => {
    const answer = await ask(server, '', {
      method: 'POST',
      url: '/api/session',
      payload: { token: sessions.token },
    });
    expect(answer.statusCode).to.equal(204);
    expect(String(answer.headers['set-cookie']))
      .to.match(/^espalier-console-8082=[\w-]{43}; /)
      .and.contain('HttpOnly')
      .and.contain('SameSite=Strict');
  });

  it('get no cookie for a wrong token', async () => {
    const answer = await ask(server, '', { method: 'POST', url: '/api/session', payload: { token: 'x' } });
    expect(answer.statusCode).to.equal(401);
    expect(answer.headers).not.to.have.property('set-cookie');
  });

  const posts: readonly (readonly [title: string, headers: Record<string, string>])[] = [
    ['from another origin', { origin: 'http://attacker.example' }],
    ['from an opaque origin', { origin: 'null' }],
    ['from another port', { origin: 'http://127.0.0.1:9999' }],
    ['from another scheme', { origin: 'https://127.0.0.1:8082' }],
    ['without an origin', { origin: '' }],
  ];
  for (const [title, headers] of posts)
    it(`are refused if they are posted ${title}`, async () => {
      const payload = { action: 'reconcile', uid: 'u' };
      const url = '/api/landscapes/proj/shop/actions';
      expect((await ask(server, cookie, { method: 'POST', url, payload, headers })).statusCode).to.equal(403);
    });

  it('are refused if they are posted as a form or as plain text', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded']) {
      const answer = await ask(server, cookie, {
        method: 'POST',
        url: '/api/landscapes/proj/shop/actions',
        payload: '{"action":"delete","uid":"u"}',
        headers: { 'content-type': type, origin: ORIGIN },
      });
      expect(answer.statusCode, type).to.equal(415);
    }
  });

  const bodies: readonly (readonly [title: string, payload: string, status: number, says: string])[] = [
    [
      'larger than 32 KiB',
      JSON.stringify({ token: 'x'.repeat(32 * 1024) }),
      413,
      'a body can have 32768 bytes',
    ],
    ['not JSON', '{"token":', 400, 'the body is not JSON'],
    ['nested deeply', '['.repeat(30_000), 400, 'the body is not JSON'],
  ];
  for (const [title, payload, status, says] of bodies)
    it(`are refused if their body is ${title}`, async () => {
      const headers = { 'content-type': 'application/json', origin: ORIGIN };
      const answer = await ask(server, '', { method: 'POST', url: '/api/session', payload, headers });
      expect(answer.statusCode).to.equal(status);
      expect(answer.body).to.contain(says);
    });
});
