/** Exchanges the token of the link for a cookie. */
import { post } from './api.ts';

/** The token is in the fragment, which browsers do not send to servers. */
export async function startSession(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return;
  history.replaceState(null, '', location.pathname + location.search);
  // Without a session, the page asks for a valid link.
  await post('/api/session', { token }).catch(() => undefined);
}
