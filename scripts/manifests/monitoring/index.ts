import { manifest, type Manifest } from '../manifest.ts'
import { type Alert, alertGroups } from './alerts.ts'
import { dashboard } from './dashboard.ts'

const FOLDER = 'deploy/monitoring'
const CHART_FILES = 'deploy/chart/files'

/** The alerts, as a file of rules and as a PrometheusRule, and the dashboard; the chart has copies of its own. */
export function monitoringManifests(): readonly Manifest[] {
  const rules = { groups: alertGroups.map(({ name, alerts }) => ({ name, rules: alerts.map(ruleOf) })) }
  const comment = ['Alerts for Prometheus: a file for rule_files.']
  const prometheusRule = {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: { name: 'tenure', labels: { 'app.kubernetes.io/name': 'tenure' } },
    spec: rules,
  }
  return [
    manifest(`${FOLDER}/rules.yaml`, [{ comment, object: rules }]),
    manifest(`${FOLDER}/prometheusrule.yaml`, [
      { comment: ['The same alerts for the operator of Prometheus.'], object: prometheusRule },
    ]),
    { file: `${FOLDER}/dashboard.json`, text: dashboard() },
    manifest(`${CHART_FILES}/rules.yaml`, [{ object: rules }]),
    { file: `${CHART_FILES}/dashboard.json`, text: dashboard() },
  ]
}

function ruleOf({ alert, expr, for: duration, severity, summary, description }: Alert): object {
  return { alert, expr, for: duration, labels: { severity }, annotations: { summary, description } }
}
