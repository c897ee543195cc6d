import { fromJavaScript } from './data/outside-values.ts'
import { execute } from './evaluate/render.ts'
import type { RenderOptions } from './evaluate/render.ts'
import { Template } from './template.ts'
import { fromOutside } from './values/bytes.ts'

export { TemplateError, type TemplateErrorCode } from './errors.ts'
export { type RenderLimits } from './evaluate/meter.ts'
export { type RenderOptions } from './evaluate/render.ts'
export { parseChartFile, renderChartFile, type ChartFileOptions } from './helm/chart-file.ts'
export { type CapabilityOptions } from './helm/capabilities.ts'
export { Template } from './template.ts'

/** Parses a template; `name` is shown in errors. Default name: `template`. Throws a TemplateError. */
export function parse(text: string, name = 'template'): Template {
  return new Template(name, fromOutside(text))
}

/** Renders a template with a JSON-like value as its dot. Throws a TemplateError. */
export function render(template: Template, values: unknown, options: RenderOptions = {}): string {
  return execute(template.set, template.name, fromJavaScript(values), options)
}
