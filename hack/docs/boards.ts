/** Boards for Grafana, as tables; docs/observability/*.json and the dashboards of the chart are written from them. */

/** A diagram of one or more queries. */
interface Panel {
  readonly title: string;
  readonly unit?: 's' | 'bytes' | 'reqps' | 'ops' | 'short';
  /** Queries, by the text of their legend. */
  readonly queries: Readonly<Record<string, string>>;
}

interface Board {
  readonly file: string;
  readonly title: string;
  readonly panels: readonly Panel[];
}

const rate = (metric: string, ...by: readonly string[]): string =>
  `sum by (${by.join(', ')}) (rate(${metric}[$__rate_interval]))`;
const quantile = (q: number, metric: string, ...by: readonly string[]): string =>
  `histogram_quantile(${q}, sum by (le, ${by.join(', ')}) (rate(${metric}_bucket[$__rate_interval])))`;
const most = (metric: string, ...by: readonly string[]): string =>
  by.length > 0 ? `max by (${by.join(', ')}) (${metric})` : `max(${metric})`;

const objects = (kind: string): Panel => ({
  title: `${kind}s by phase`,
  queries: { '{{phase}}': most(`espalier_landscape_objects{kind="${kind}"}`, 'phase') },
});

export const boards: readonly Board[] = [
  {
    file: 'landscapes.json',
    title: 'Espalier / Landscapes',
    panels: [
      objects('Installation'),
      objects('Execution'),
      objects('DeployItem'),
      {
        title: 'Unfinished jobs',
        queries: { '{{kind}}': most('espalier_landscape_unfinished_jobs', 'kind') },
      },
      {
        title: 'Age of the oldest unfinished job',
        unit: 's',
        queries: { '{{kind}}': most('espalier_landscape_oldest_unfinished_job_seconds', 'kind') },
      },
      {
        title: 'Phase transitions',
        unit: 'ops',
        queries: {
          '{{controller}} {{phase}}': rate('espalier_phase_transitions_total', 'controller', 'phase'),
        },
      },
      {
        title: 'Duration of jobs of deploy items, 95th percentile',
        unit: 's',
        queries: {
          '{{deployer}} {{phase}}': quantile(
            0.95,
            'espalier_deployer_job_duration_seconds',
            'deployer',
            'phase',
          ),
        },
      },
      {
        title: 'Failed reconciles of deploy items',
        unit: 'ops',
        queries: { '{{deployer}} {{reason}}': rate('espalier_deployer_errors_total', 'deployer', 'reason') },
      },
    ],
  },
  {
    file: 'controllers.json',
    title: 'Espalier / Controllers',
    panels: [
      {
        title: 'Reconciles',
        unit: 'ops',
        queries: {
          '{{controller}} {{result}}': rate('controller_runtime_reconcile_total', 'controller', 'result'),
        },
      },
      {
        title: 'Duration of reconciles, 95th percentile',
        unit: 's',
        queries: {
          '{{controller}}': quantile(0.95, 'controller_runtime_reconcile_time_seconds', 'controller'),
        },
      },
      {
        title: 'Objects that wait for a worker',
        queries: { '{{controller}}': most('workqueue_depth', 'controller') },
      },
      {
        title: 'Time in the queue, 95th percentile',
        unit: 's',
        queries: { '{{controller}}': quantile(0.95, 'workqueue_queue_duration_seconds', 'controller') },
      },
      {
        title: 'Busy workers',
        queries: {
          '{{controller}} busy': most('controller_runtime_active_workers', 'controller'),
          '{{controller}} all': most('controller_runtime_max_concurrent_reconciles', 'controller'),
        },
      },
      {
        title: 'Oldest reconcile in progress',
        unit: 's',
        queries: { '{{controller}}': most('workqueue_longest_running_processor_seconds', 'controller') },
      },
      {
        title: 'Event loop blocked',
        unit: 's',
        queries: { '{{pod}}': most('espalier_event_loop_lag_seconds', 'pod') },
      },
      {
        title: 'Memory',
        unit: 'bytes',
        queries: { '{{pod}}': most('process_resident_memory_bytes', 'pod') },
      },
      {
        title: 'Processor time',
        unit: 'short',
        queries: { '{{pod}}': rate('process_cpu_seconds_total', 'pod') },
      },
      { title: 'Shards of each replica', queries: { '{{pod}}': most('espalier_fleet_shards_held', 'pod') } },
    ],
  },
  {
    file: 'requests.json',
    title: 'Espalier / Requests and caches',
    panels: [
      {
        title: 'Requests',
        unit: 'reqps',
        queries: {
          '{{host}} {{method}} {{code}}': rate('rest_client_requests_total', 'host', 'method', 'code'),
        },
      },
      {
        title: 'Time until the response, 95th percentile',
        unit: 's',
        queries: {
          '{{host}} {{verb}}': quantile(0.95, 'rest_client_request_duration_seconds', 'host', 'verb'),
        },
      },
      {
        title: 'Retried requests',
        unit: 'reqps',
        queries: { '{{host}} {{verb}}': rate('rest_client_request_retries_total', 'host', 'verb') },
      },
      {
        title: 'Wait before sending, 95th percentile',
        unit: 's',
        queries: {
          '{{host}} {{verb}}': quantile(0.95, 'rest_client_rate_limiter_duration_seconds', 'host', 'verb'),
        },
      },
      {
        title: 'Objects in caches',
        queries: {
          '{{source}}': most('espalier_cache_objects', 'source'),
          '{{source}} compressed': most('espalier_cache_compressed_objects', 'source'),
        },
      },
      {
        title: 'Watches that do not work',
        queries: { '{{source}}': most('espalier_watch_state{state!="watching"}', 'source') },
      },
      {
        title: 'Relists',
        unit: 'ops',
        queries: { '{{source}} {{reason}}': rate('espalier_watch_relists_total', 'source', 'reason') },
      },
      {
        title: 'Responses over a limit',
        unit: 'ops',
        queries: { '{{host}} {{limit}}': rate('espalier_responses_over_limit_total', 'host', 'limit') },
      },
    ],
  },
];

const [WIDTH, HEIGHT, COLUMNS] = [12, 8, 2];

/** The board in the format of Grafana 10 and later. */
export function boardFile({ file, title, panels }: Board): string {
  const datasource = { type: 'prometheus', uid: '${datasource}' };
  const board = {
    uid: `espalier-${file.replace('.json', '')}`,
    title,
    tags: ['espalier'],
    schemaVersion: 39,
    editable: true,
    time: { from: 'now-3h', to: 'now' },
    refresh: '30s',
    templating: {
      list: [{ name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' }],
    },
    panels: panels.map(({ title: name, unit = 'short', queries }, i) => ({
      id: i + 1,
      type: 'timeseries',
      title: name,
      datasource,
      gridPos: { x: (i % COLUMNS) * WIDTH, y: Math.floor(i / COLUMNS) * HEIGHT, w: WIDTH, h: HEIGHT },
      fieldConfig: { defaults: { unit, min: 0 }, overrides: [] },
      options: { legend: { displayMode: 'table', placement: 'right', calcs: ['lastNotNull', 'max'] } },
      targets: Object.entries(queries).map(([legendFormat, expr], n) => ({
        refId: String.fromCharCode('A'.charCodeAt(0) + n),
        datasource,
        expr,
        legendFormat,
      })),
    })),
  };
  return `${JSON.stringify(board, null, 2)}\n`;
}
