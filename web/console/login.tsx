/** The page for a console in the cluster without a session: the user enters a bearer token. */
import { useRef, useState } from 'preact/hooks';
import { post } from './api.ts';

interface LoginProps {
  readonly onDone: () => void;
}

export function LoginPage({ onDone }: LoginProps) {
  const input = useRef<HTMLInputElement>(null);
  const [token, setToken] = useState('');
  const [error, setError] = useState('');
  const [isSending, setSending] = useState(false);
  const send = (event: Event): void => {
    event.preventDefault();
    if (isSending || token.trim() === '') return;
    setSending(true);
    setError('');
    post('/api/session', { token: token.trim() })
      .then(onDone)
      .catch((problem: unknown) => {
        setSending(false);
        setToken('');
        input.current?.focus();
        setError((problem as Error).message);
      });
  };
  return (
    <main class="login">
      <form onSubmit={send} aria-labelledby="login-title">
        <h1 id="login-title">Log in</h1>
        <p>
          Enter a bearer token of this cluster. The console then shows and does what the token allows, and
          keeps the token in its memory until you log out.
        </p>
        <label>
          Token
          <input
            ref={input}
            type="password"
            name="token"
            autocomplete="off"
            autofocus
            aria-describedby="login-hint"
            value={token}
            onInput={({ currentTarget }) => setToken(currentTarget.value)}
          />
        </label>
        <p id="login-hint" class="dim">
          For a service account: <code>kubectl create token NAME -n NAMESPACE</code>
        </p>
        <p role="alert" class="failed">
          {error}
        </p>
        <button type="submit" class="primary" disabled={isSending || token.trim() === ''}>
          {isSending ? 'Checking …' : 'Log in'}
        </button>
      </form>
    </main>
  );
}
