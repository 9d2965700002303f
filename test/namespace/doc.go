package namespace
