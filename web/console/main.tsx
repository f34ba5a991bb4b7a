/** Starts the console in the browser. */
import { render } from 'preact';
import { startSession } from './session.ts';
import { Shell } from './shell.tsx';

await startSession();
const app = document.getElementById('app');
if (app) render(<Shell />, app);
