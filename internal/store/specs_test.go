package store

import _ "soku/internal/tests" // registers the tests whose options and metrics are used here
