/** A controller of weather stations with four event sources besides the watch of its own kind. */
import {
  byLabel,
  inboundSource,
  perResourceSource,
  pollSource,
  watchSource,
  type Cache,
  type ControllerSpec,
  type Kind,
  type Obj,
} from 'espalier/runtime';

export interface Station extends Obj {
  spec: { place: string };
  status?: { degrees?: number; rain?: string; calibration?: string };
}

export const stationKind: Kind<Station> = {
  group: 'weather.example.org',
  version: 'v1',
  kind: 'Station',
  plural: 'stations',
  namespaced: true,
};

export interface Calibration extends Obj {
  data?: { offset?: string };
}

export interface Weather {
  /** Degrees by place, of all places. */
  readings(): Promise<ReadonlyMap<string, number>>;
  forecast(place: string): Promise<string>;
}

export function stationController(weather: Weather, calibrations: Cache<Calibration>) {
  // One request for all stations. A changed response reconciles the affected stations.
  const readings = pollSource<{ degrees: number }>({
    name: 'readings',
    everyMs: 10_000,
    async fetch() {
      const found = await weather.readings();
      return new Map([...found].map(([place, degrees]) => [`stations/${place}`, [{ degrees }]]));
    },
  });

  // One request for each, more often while it rains.
  const forecasts = perResourceSource<string, Station>({
    name: 'forecasts',
    fetch: async ({ spec }) => [await weather.forecast(spec.place)],
    delayMs: (last) => (last?.includes('rain') ? 60_000 : 600_000),
  });

  // A handle that raises events: for a webhook, a socket, a message queue.
  const alarms = inboundSource('alarms');

  // Objects of another cluster, whose labels name their station.
  const elsewhere = watchSource<Calibration, Station>({
    name: 'calibrations',
    cache: calibrations,
    toPrimary: byLabel({ name: 'station', namespace: 'station-namespace' }),
  });

  const controller: ControllerSpec<Station> = {
    name: 'stations',
    kind: stationKind,
    sources: [readings, forecasts, alarms, elsewhere],
    reconciler: {
      async reconcile(station, ctx) {
        const [reading] = readings.of(station);
        const [rain] = await forecasts.load(station);
        const calibration = ctx.secondary(calibrations.kind)?.data?.offset;
        const object = ctx.draft();
        object.status = {
          ...(reading && { degrees: reading.degrees }),
          ...(rain !== undefined && { rain }),
          ...(calibration !== undefined && { calibration }),
        };
        return { write: 'status', object };
      },
    },
  };
  return { controller, alarms };
}
