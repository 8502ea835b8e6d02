"""What pages, the API and archives show: each report is worked out from the tables, and nothing is written."""
