"""What pages, the API and archives show. Each report is computed from the tables; nothing is written."""
