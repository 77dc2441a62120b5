// Package config reads the settings of the server: flags before environment before file before default.
//
// Every setting has one name in three spellings, derived from one another: the file key quota.valueBytes is the flag
// --quota-value-bytes and the environment variable SESSILE_QUOTA_VALUE_BYTES. [Settings] is the table of them all;
// flags, environment, file and documentation come from it.
//
// No file is read unless one is named by --config or SESSILE_CONFIG. A file is strict YAML (and so may be JSON):
// unknown and repeated keys are errors.
package config
