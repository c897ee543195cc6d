/** Reads the metrics and labels of PromQL expressions, as far as the alerts and the dashboard use PromQL. */

/** The use of a metric in an expression. */
export interface MetricUse {
  readonly name: string
  /** Labels of its selector. */
  readonly matched: readonly string[]
}

export interface Expression {
  readonly metrics: readonly MetricUse[]
  /** Labels of `by`, `on` and the like. */
  readonly grouped: readonly string[]
}

const FUNCTIONS = new Set(['sum', 'max', 'min', 'rate', 'increase', 'histogram_quantile', 'label_values', 'and', 'or'])
const GROUPINGS = /\b(?:by|on|without|ignoring) \(([^)]*)\)/g
const METRIC = /([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{([^}]*)\})?/g

export function readExpression(text: string): Expression {
  const grouped = [...text.matchAll(GROUPINGS)].flatMap(([, labels = '']) =>
    labels.split(',').map((label) => label.trim()),
  )
  const bare = text
    .replaceAll(GROUPINGS, ' ')
    // Ranges and numbers.
    .replaceAll(/\[[^\]]*\]/g, ' ')
    .replaceAll(/(?<![\w{"~=])\d+(?:\.\d+)?/g, ' ')
  const metrics = [...bare.matchAll(METRIC)]
    .filter(([, name = '']) => !FUNCTIONS.has(name))
    .map(([, name = '', selector = '']) => ({
      name,
      matched: [...selector.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label),
    }))
  return { metrics, grouped }
}
