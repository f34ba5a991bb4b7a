/** Runs the embedded API server with controllers and deployers for the duration of a command. */
import { startEmbedded, type Embedded, type EmbeddedOptions } from './embedded.ts';
import { startLandscaper, type Landscaper, type LandscaperOptions } from './landscaper.ts';

interface EmbeddedStage {
  readonly embedded: Embedded;
  readonly landscaper: Landscaper;
}

interface EmbeddedLandscaperOptions extends Omit<LandscaperOptions, 'kubeconfig' | 'log'> {
  /** Called before the controllers start, so that their caches contain the objects that it creates. */
  readonly prepare?: (embedded: Embedded) => Promise<Service | undefined>;
}

/** Closed after the controllers have stopped or failed to start, while the API server still runs. */
interface Service {
  close(): Promise<void>;
}

/** Calls `use`, and stops both servers when it ends or fails. @throws the errors of either start, and of `use` */
export async function withEmbeddedLandscaper<T>(
  server: EmbeddedOptions,
  { prepare, ...options }: EmbeddedLandscaperOptions,
  use: (stage: EmbeddedStage) => Promise<T>,
): Promise<T> {
  const embedded = await startEmbedded(server);
  try {
    const { log } = server;
    const service = await prepare?.(embedded);
    try {
      const landscaper = await startLandscaper({
        kubeconfig: { text: embedded.kubeconfig },
        log,
        ...options,
      });
      try {
        return await use({ embedded, landscaper });
      } finally {
        await landscaper.stop();
      }
    } finally {
      await service?.close();
    }
  } finally {
    await embedded.close();
  }
}
