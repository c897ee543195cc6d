import { OUTPUT_FORMATS, outputMeaning } from '@tenure/runtime/cli'
import { Option } from 'commander'

/** `-o` of a command. Default: the formats of rows, of which `table` is the default. */
export function outputOption(formats: readonly string[] = OUTPUT_FORMATS, fallback?: string): Option {
  const meaning = fallback === undefined ? outputMeaning(formats) : outputMeaning(formats, fallback)
  const option = new Option('-o, --output <format>', meaning).choices(formats)
  // A default that its meaning names is not printed again.
  return fallback === undefined ? option : option.default(fallback, '')
}
